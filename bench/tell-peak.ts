import { writeSync } from "node:fs";
import { peakMegabytes } from "./measure.ts";

// Loaded before a program: tells at its end, on the fourth pipe, how much memory it had.
process.on("exit", () => writeSync(3, `${peakMegabytes()}\n`));
