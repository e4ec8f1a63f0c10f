import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TextDecoder } from 'node:util';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { warehouseError } from '../../../warehouse-error.ts';

/**
 * The likely encoding of a text that is no UTF-8: UTF-16 by its byte order mark or its zero bytes,
 * otherwise Windows-1252, which contains what people call Latin-1.
 */
export async function guessEncoding(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
    const start = buffer.subarray(0, bytesRead);
    if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
    if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
    const zeros = (odd: number) => start.filter((byte, at) => byte === 0 && at % 2 === odd).length;
    if (zeros(1) > bytesRead / 4) return 'utf-16le';
    return zeros(0) > bytesRead / 4 ? 'utf-16be' : 'windows-1252';
  } finally {
    await file.close();
  }
}

/** Writes a text file as UTF-8, decompressed, without a byte order mark. */
export async function decodeText(
  { from, to, encoding }: { readonly from: string; readonly to: string; readonly encoding: string },
  signal: AbortSignal,
): Promise<void> {
  const decoder = decoderOf(encoding);
  const decode = new Transform({
    transform: (chunk: Uint8Array, _encoding, done) =>
      done(undefined, decoder.decode(chunk, { stream: true })),
    flush: (done) => done(undefined, decoder.decode()),
  });
  const source = createReadStream(from);
  const target = createWriteStream(to, { mode: 0o600 });
  if (/\.gz$/i.test(from)) await pipeline(source, createGunzip(), decode, target, { signal });
  else if (/\.zst$/i.test(from))
    await pipeline(source, createZstdDecompress(), decode, target, { signal });
  else await pipeline(source, decode, target, { signal });
}

function decoderOf(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding);
  } catch {
    throw warehouseError('not_a_database', `"${encoding}" is no encoding that ktx knows`, {
      hint: 'Write encoding as in web pages: windows-1252, iso-8859-2, utf-16le, shift_jis.',
    });
  }
}
