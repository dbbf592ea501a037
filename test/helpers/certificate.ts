import { generateKeyPairSync, sign } from "node:crypto";

/** A certificate that signs itself, for one IPv4 address, with its key: both as PEM. */
export function selfSigned(address: string): { readonly certificate: string; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from("knack test")))));
  const bytes = Buffer.from(address.split(".").map(Number));
  const alternative = sequence(subjectAltName, der(0x04, sequence(der(0x87, bytes))));
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(...["250101000000Z", "491231235959Z"].map((time) => der(0x17, Buffer.from(time)))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(alternative)),
  );
  const whole = sequence(
    signed,
    ecdsaWithSha256,
    der(0x03, Buffer.from([0]), sign("sha256", signed, privateKey)),
  );
  const lines = whole.toString("base64").replace(/.{64}/g, "$&\n").trimEnd();
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

/** A value of ASN.1 as DER writes it. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

const commonName = Buffer.from("0603550403", "hex");
const subjectAltName = Buffer.from("0603551d11", "hex");
const ecdsaWithSha256 = Buffer.from("300a06082a8648ce3d040302", "hex");
