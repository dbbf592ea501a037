/**
 * The records a session has had, by a 53-bit hash of their ids. A long transcript has a million of them; as strings
 * they would cost more memory than everything else. That two of a million ids share a hash is as likely as one in
 * twenty thousand.
 */
export class Seen {
  private slots = new Float64Array(1024);
  private count = 0;

  constructor(ids: Iterable<string> = []) {
    for (const id of ids) this.add(id);
  }

  /** Remembers an id; false when it was there. */
  add(id: string): boolean {
    if (this.count * 2 >= this.slots.length) this.grow();
    const added = this.put(hash(id));
    if (added) this.count++;
    return added;
  }

  private put(value: number): boolean {
    const { slots } = this;
    const last = slots.length - 1;
    let at = value % slots.length;
    // Zero is an empty slot; no hash is zero.
    while (slots[at] !== 0) {
      if (slots[at] === value) return false;
      at = at === last ? 0 : at + 1;
    }
    slots[at] = value;
    return true;
  }

  private grow(): void {
    const old = this.slots;
    this.slots = new Float64Array(old.length * 2);
    for (const value of old) if (value !== 0) this.put(value);
  }
}

/** Two multiplicative hashes of 32 bits, folded into 53: 1 to 2^53. */
function hash(text: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b & 0x1fffff) * 2 ** 32 + (a >>> 0) + 1;
}
