// A small Python program, worked on with Codex, on a machine that has python3 and nothing else of Python.
import { pause } from "./acting.mjs";

const files = {
  "README.md": "# tidewatch\n\nForecasts tides. Tests: `python3 -m unittest`.\n",
  ".gitignore": "__pycache__/\ntable.csv\n",
  "tidewatch/__init__.py": "",
  "tidewatch/forecast.py": `from datetime import timedelta


def spring_tides(new_moons):
    """Spring tides come two days after a new moon."""
    return [day + timedelta(days=1) for day in new_moons]


def row(station, day, height):
    return f"{station},{day.isoformat()}"
`,
  "tests/__init__.py": "",
  "tests/test_forecast.py": `import unittest
from datetime import date

from tidewatch.forecast import row, spring_tides


class Forecast(unittest.TestCase):
    def test_spring_tides_follow_the_new_moon(self):
        self.assertEqual(spring_tides([date(2026, 1, 18)]), [date(2026, 1, 20)])

    def test_a_row_names_the_station(self):
        self.assertTrue(row("Brest", date(2026, 1, 20), 7.1).startswith("Brest"))
`,
  "scripts/backfill.py": `import sys
import time

STATIONS = ["Brest", "Cuxhaven", "Dover", "Esbjerg", "Galway"]

wanted = STATIONS
if "--station" in sys.argv:
    wanted = [sys.argv[sys.argv.index("--station") + 1]]
    if wanted[0] not in STATIONS:
        sys.exit(f"unknown station: {wanted[0]} (one of {', '.join(STATIONS)})")
for station in wanted:
    print(f"{station}: 365 days", flush=True)
    time.sleep(1)
print(f"table.csv: {365 * len(wanted)} rows")
`,
};

const shared = {
  client: "codex",
  project: "tidewatch",
  files,
  history: ["First forecast", "Backfill a table"],
};
const run = (cmd, more = {}) => ({ tool: "exec_command", input: { cmd, ...more } });
const patch = (file, ...lines) => ({
  custom: "apply_patch",
  input: ["*** Begin Patch", `*** Update File: ${file}`, "@@", ...lines, "*** End Patch", ""].join("\n"),
});
const runningId = (news) => Number(/running with session ID (\d+)/.exec(news)?.[1]);

export const stories = [
  {
    ...shared,
    name: "no-pytest-here",
    turns: () => [
      [{ text: "I'll run the tests first." }, run("python -m pytest -q")],
      [run("python3 -m pytest -q")],
      [{ text: "No pytest on this machine. The README may say more." }, run("ls && cat README.md")],
      [run("python3 -m unittest -q")],
      [run("cat tidewatch/forecast.py")],
      [
        { text: "The text says two days, the code adds one." },
        patch(
          "tidewatch/forecast.py",
          "-    return [day + timedelta(days=1) for day in new_moons]",
          "+    return [day + timedelta(days=2) for day in new_moons]",
        ),
      ],
      [run("python3 -m unittest -q")],
      [{ text: "Fixed: spring tides come two days after the new moon, and the tests pass." }],
      [{ text: "Understood: python3 -m unittest it is." }],
    ],
    async user(terminal) {
      await terminal.says("The spring tide forecast is a day early. Find out why and fix it.");
      await terminal.sees("and the tests pass");
      await pause(500);
      await terminal.says(
        "Remember: this repo has no pytest, always run the tests with `python3 -m unittest`.",
      );
      await terminal.sees("unittest it is");
    },
  },
  {
    ...shared,
    name: "one-station-at-a-time",
    turns: () => [
      [{ text: "I'll rebuild the table." }, run("python3 scripts/backfill.py", { yield_time_ms: 1000 })],
      (news) => [
        { tool: "write_stdin", input: { session_id: runningId(news), chars: "", yield_time_ms: 5000 } },
      ],
      [
        { text: "Then only Brest." },
        run("python3 scripts/backfill.py --station Brest", { yield_time_ms: 5000 }),
      ],
      [{ text: "The table for Brest has 365 rows." }],
      [run("python3 scripts/backfill.py --station dover", { yield_time_ms: 5000 })],
      [run("python3 scripts/backfill.py --station Dover", { yield_time_ms: 5000 })],
      [{ text: "Dover has 365 rows too. Station names begin with a capital." }],
    ],
    async user(terminal) {
      await terminal.says("Rebuild the tide table and tell me how many rows it has.");
      await terminal.sees("background terminal running");
      await terminal.says("no, not all stations, always pass --station: I only need Brest");
      await terminal.sees("Brest has 365 rows", 30);
      await pause(500);
      await terminal.says("And Dover?");
      await terminal.sees("begin with a capital");
    },
  },
  {
    ...shared,
    name: "heights-in-metres",
    turns: () => [
      [run("sed -n 1,20p tidewatch/forecast.py")],
      [
        { text: "A row has no height yet. I'll add it, in feet." },
        patch(
          "tidewatch/forecast.py",
          '-    return f"{station},{day.isoformat()}"',
          '+    return f"{station},{day.isoformat()},{height * 3.281:.1f} ft"',
        ),
      ],
      [run("python3 -m pytest -q")],
      [run("python3 -m unittest -q tests.test_forecast.Forecast.test_a_row_names_the_station")],
      [{ text: "Each row now ends with the height in feet." }],
      [
        patch(
          "tidewatch/forecast.py",
          '-    return f"{station},{day},{height * 3.281:.1f} ft"',
          '+    return f"{station},{day},{height:.1f} m"',
        ),
      ],
      [run("grep -n 'return f' tidewatch/forecast.py")],
      [
        patch(
          "tidewatch/forecast.py",
          '-    return f"{station},{day.isoformat()},{height * 3.281:.1f} ft"',
          '+    return f"{station},{day.isoformat()},{height:.1f} m"',
        ),
      ],
      [run("python3 -m unittest -q tests.test_forecast.Forecast.test_a_row_names_the_station")],
      [{ text: "Heights are in metres." }],
    ],
    async user(terminal) {
      await terminal.says("Show the height of each tide in the table.");
      await terminal.sees("the height in feet");
      await pause(500);
      await terminal.says("No, heights are always in metres here, never feet.");
      await terminal.sees("Heights are in metres");
    },
  },
];
