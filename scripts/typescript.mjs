import { readFileSync } from "node:fs";
import { register } from "node:module";

/** Lets scripts import TypeScript, which Node 20 cannot load: esbuild takes the types off on the way in. */
export function loadTypeScript() {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  // The build writes the version in; so does this.
  const options = { loader: "ts", format: "esm", define: { KNACK_VERSION: JSON.stringify(version) } };
  const hook = `
    import { readFile } from "node:fs/promises";
    import { transform } from ${JSON.stringify(import.meta.resolve("esbuild"))};
    export async function load(url, context, next) {
      if (!url.endsWith(".ts")) return next(url, context);
      const { code } = await transform(await readFile(new URL(url), "utf8"), ${JSON.stringify(options)});
      return { format: "module", source: code, shortCircuit: true };
    }`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
}
