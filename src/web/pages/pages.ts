import type { Page } from "../page.ts";
import { inboxPage } from "./inbox.ts";

/** Every page. The first of two that fit an address is shown. */
export const pages: readonly Page[] = [inboxPage];
