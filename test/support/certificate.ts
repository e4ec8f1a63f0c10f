import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/**
 * A certificate for `host` made on the spot, self-signed and its own authority, good for a day.
 * Written out in DER by hand, because node:crypto signs no certificates and a test must not need a
 * program beside Node.
 */
export function throwAwayCertificate(host: string): { key: string; certificate: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Date.now();
  const name = sequence(
    der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('ktx test, worthless')))),
  );
  const extensions = [
    sequence(
      oid('551d13'),
      der(0x01, Buffer.from([0xff])),
      octets(sequence(der(0x01, Buffer.from([0xff])))),
    ),
    sequence(oid('551d11'), octets(sequence(der(0x82, Buffer.from(host))))),
    sequence(oid('551d25'), octets(sequence(oid('2b06010505070301')))),
  ];
  const ecdsaSha256 = sequence(oid('2a8648ce3d040302'));
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    ecdsaSha256,
    name,
    sequence(utcTime(now - 3_600_000), utcTime(now + 86_400_000)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  const bytes = sequence(body, ecdsaSha256, signature);
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const octets = (content: Buffer): Buffer => der(0x04, content);
const integer = (content: Buffer): Buffer => der(0x02, content);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const utcTime = (at: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`));
