// Loaded by Node before Knack's hook (NODE_OPTIONS): notes each event that an agent hands to it, by the agent's own name.
const fs = require("node:fs");

if (/[\\/]hook\.cjs$/.test(process.argv[1] ?? "")) {
  const read = fs.readFileSync;
  fs.readFileSync = (from, ...more) => {
    const text = read(from, ...more);
    if (from === 0) fs.appendFileSync(process.env.HEARD_EVENTS, `${JSON.parse(text).hook_event_name}\n`);
    return text;
  };
}
