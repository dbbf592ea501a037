import type { PublishDeps } from "../engine/step.ts";
import { createVersions } from "../library/versions.ts";
import { settingsFor } from "../settings.ts";
import type { Opened } from "./home.ts";
import type { Observation } from "./observing.ts";
import type { Stock } from "./stock.ts";

/** What Knack's verbs are made of. */
export interface Parts extends Opened, Observation {
  readonly stock: Stock;
  readonly publishing: PublishDeps;
}

export function partsOf(opened: Opened, stock: Stock, observation: Observation): Parts {
  return { ...opened, ...observation, stock, publishing: publishingIn(opened, stock) };
}

function publishingIn({ home, store, library, places, redactor, clock }: Opened, stock: Stock): PublishDeps {
  return {
    ...{ store, library, places, redactor, clock },
    versions: createVersions(home.versions),
    prefixOf: async (root) => settingsFor(home, root).prefix,
    isFound: async ({ kind, name, root }) => {
      const known = (await store.projects.list()).find((project) => project.root === root);
      // While another process looks through the library, that one finds it.
      if ((await stock.restock({ id: known?.id ?? root, root })) === null) return true;
      return stock.has({ kind, name });
    },
  };
}
