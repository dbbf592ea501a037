import type { Page } from "../page.ts";
import { backtestPage, backtestResultPage } from "./backtest.ts";
import { goalsPage } from "./goals.ts";
import { healthChecksPage, healthPage } from "./health.ts";
import { homePage } from "./home.ts";
import { inboxPage } from "./inbox.ts";
import { itemPage } from "./item.ts";
import { lessonPage } from "./lesson.ts";
import { lessonsPage } from "./lessons.ts";
import { libraryPage } from "./library.ts";
import { runPage } from "./run.ts";
import { sessionPage } from "./session.ts";
import { sessionsPage } from "./sessions.ts";
import { spentPage } from "./spent.ts";
import { toldPage } from "./told.ts";

/** Every page. The first of two that fit an address is shown. */
export const pages: readonly Page[] = [
  ...[homePage, inboxPage, lessonsPage, lessonPage, libraryPage, itemPage, sessionsPage, sessionPage],
  ...[
    toldPage,
    spentPage,
    backtestPage,
    backtestResultPage,
    goalsPage,
    runPage,
    healthPage,
    healthChecksPage,
  ],
];
