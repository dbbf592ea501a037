import { createLibrary, type PackageFile, type SkillFolder } from "../../src/library/files/packages.ts";
/** What a test can have done in another process. */
export type Orders =
  | {
      readonly do: "write";
      readonly place: SkillFolder;
      readonly name: string;
      readonly revision: string;
      readonly at: number;
      readonly expecting: string | null;
    }
  | { readonly do: "replace-on-and-on"; readonly place: SkillFolder; readonly name: string }
  | { readonly do: "rewrite-on-and-on"; readonly path: string }
  | { readonly do: "append"; readonly path: string; readonly line: string; readonly times: number };

/** A package of several files which all say the same revision. */
export function packageOf(name: string, revision: string): PackageFile[] {
  const skill = `---\nname: ${name}\ndescription: Use when testing.\nmetadata:\n  origin: knack\n---\n\n${revision}\n`;
  const file = (path: string, text: string, mode = 0o644) => ({ path, bytes: Buffer.from(text), mode });
  return [
    file("SKILL.md", skill),
    file("references/more.md", revision),
    file("scripts/run.sh", `echo ${revision}\n`, 0o755),
    ...Array.from({ length: 6 }, (_, at) => file(`references/${at}.md`, revision)),
  ];
}

const library = createLibrary();

async function obey(orders: Orders): Promise<void> {
  switch (orders.do) {
    case "write": {
      while (Date.now() < orders.at);
      const { place, name, revision, expecting } = orders;
      console.log(JSON.stringify(await library.write(place, name, packageOf(name, revision), { expecting })));
      return;
    }
    case "replace-on-and-on":
      for (let revision = 0; ; revision++) {
        const now = await library.read(`${orders.place.folder}/${orders.name}`);
        const options = { expecting: now?.hash ?? null };
        await library.write(orders.place, orders.name, packageOf(orders.name, `r${revision}`), options);
        if (revision === 0) console.log("begun");
      }
    case "rewrite-on-and-on":
      for (let revision = 0; ; revision++) {
        const now = await library.readText(orders.path);
        const expecting = now.found === "text" ? now.hash : null;
        await library.writeText(orders.path, `r${revision}\n`.repeat(2_000), { expecting });
        if (revision === 0) console.log("begun");
      }
    case "append":
      for (let time = 0; time < orders.times; ) {
        const now = await library.readText(orders.path);
        if (now.found === "unreadable") throw new Error(now.message);
        const [text, expecting] = now.found === "text" ? [now.text, now.hash] : ["", null];
        if ((await library.writeText(orders.path, `${text}${orders.line}\n`, { expecting })).written) time++;
      }
  }
}

const orders = process.argv[2];
if (orders?.startsWith("{")) void obey(JSON.parse(orders) as Orders);
