/** Characters that do something to a terminal, or turn the direction of what follows; line ends and tabs are none. */
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\r(?!\n)/g;
const escapable = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text from elsewhere with its terminal controls as signs that can be seen: an escape becomes ␛. */
export function showControls(text: string): string {
  return text.replace(controls, showControl);
}

function showControl(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "␡" : `<U+${toHex(code)}>`;
}

/** JSON that is printed: the same value, with those controls escaped that JSON itself lets through. */
export function escapeControls(json: string): string {
  return json.replace(escapable, (control) => `\\u${toHex(control.charCodeAt(0)).toLowerCase()}`);
}

function toHex(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, "0");
}
