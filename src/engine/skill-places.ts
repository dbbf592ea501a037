import type { Reach } from "../core/change.ts";
import { type Present, rootIn } from "./caller.ts";
import type { Place, Places } from "./ports.ts";

/** Where the caller's agent has its skills, and where all of them are, those first. */
export function placesFor(
  { places }: { readonly places: Places },
  present: Present,
): { readonly own: readonly Place[]; readonly all: readonly Place[]; readonly reach: Reach } {
  const { format } = present.caller;
  const formats = format === null ? [] : [format];
  const root = rootIn(present);
  const here = places.skills("me", root, formats);
  const own = here ?? places.skills("everywhere", null, formats) ?? [];
  const rest = places.all(root);
  const near = (place: Place) => (root !== null && place.folder.startsWith(`${root}/`) ? 0 : 1);
  const drafts = places.skills("draft", null, [])?.[0]?.folder;
  const late = ({ folder }: Place) => (folder === drafts ? 2 : 0);
  const sorted = [...rest].sort((a, b) => near(a) + late(a) - near(b) - late(b));
  const all = [...new Map([...own, ...sorted].map((place) => [place.folder, place])).values()];
  return { own, all, reach: here === null ? "everywhere" : "me" };
}
