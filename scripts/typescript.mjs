import { register } from "node:module";

/** Lets scripts import TypeScript, which Node 20 cannot load: esbuild takes the types off on the way in. */
export function loadTypeScript() {
  const hook = `
    import { readFile } from "node:fs/promises";
    import { transform } from ${JSON.stringify(import.meta.resolve("esbuild"))};
    export async function load(url, context, next) {
      if (!url.endsWith(".ts")) return next(url, context);
      const { code } = await transform(await readFile(new URL(url), "utf8"), { loader: "ts", format: "esm" });
      return { format: "module", source: code, shortCircuit: true };
    }`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
}
