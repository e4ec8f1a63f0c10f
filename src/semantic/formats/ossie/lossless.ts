import { z } from 'zod';
import { isRecord } from '../../../lib/json.ts';
import {
  applyPatch,
  isEqual,
  makePatch,
  omitKeys,
  type Patch,
  type PlainObject,
} from '../patch.ts';
import type { OssieCodec } from './codecs.ts';
import { addKtxExtension, splitKtxExtension } from './extension.ts';

/**
 * Lossless conversion on top of a codec. Writing stores what Ossie cannot express as a patch in
 * ktx's `custom_extensions` entry; reading stores what ktx cannot express as a patch under
 * `extensions.ossie`. Each side replays the other's patch.
 */
const patchSchema = z.looseObject({
  add: z.record(z.string(), z.unknown()).optional(),
  replace: z
    .array(
      z.looseObject({
        path: z.array(z.string()),
        from: z.unknown().optional(),
        to: z.unknown().optional(),
      }),
    )
    .optional(),
});

interface Encoded {
  readonly object: PlainObject;
  /** Top-level keys that only ktx will understand. */
  readonly ktxOnlyKeys: readonly string[];
}

/** The Ossie form of a ktx object; undefined if Ossie can express nothing of it. */
export function encodeLossless(ktx: PlainObject, codec: OssieCodec): Encoded | undefined {
  const { own, patch } = splitOssiePatch(ktx);
  const converted = codec.toOssie(own);
  if (converted === undefined && patch === undefined) return undefined;
  const object = patch === undefined ? (converted ?? {}) : applyPatch(converted ?? {}, patch).value;
  const lost = makePatch(codec.fromOssie(object), own);
  const lostKeys = [
    ...Object.keys(lost?.add ?? {}),
    ...(lost?.replace ?? []).map(({ path }) => path[0] ?? ''),
  ];
  return {
    object: lost === undefined ? object : addKtxExtension(object, lost),
    ktxOnlyKeys: [...new Set(lostKeys)],
  };
}

/** The patch that reading put under `extensions.ossie`, and the object without it. */
function splitOssiePatch(ktx: PlainObject): {
  readonly own: PlainObject;
  readonly patch: Patch | undefined;
} {
  const { ossie, ...others } = isRecord(ktx['extensions']) ? ktx['extensions'] : {};
  const parsed = patchSchema.safeParse(ossie);
  if (!parsed.success) return { own: ktx, patch: undefined };
  const own = omitKeys(ktx, 'extensions');
  return { own: isEqual(others, {}) ? own : { ...own, extensions: others }, patch: parsed.data };
}

export interface Decoded {
  readonly ktx: PlainObject;
  /** The Ossie object without ktx's own extension. */
  readonly ossie: PlainObject;
  /** Paths of ktx's patch that an edit of the Ossie file has made void. */
  readonly stale: readonly string[];
}

/** The ktx form of an Ossie object, with what ktx had stored in its extension. */
export function decodeLossless(object: PlainObject, fromOssie: OssieCodec['fromOssie']): Decoded {
  const { object: ossie, data } = splitKtxExtension(object);
  const patch = patchSchema.safeParse(data);
  if (!patch.success) return { ktx: fromOssie(ossie), ossie, stale: [] };
  const { value: ktx, stale } = applyPatch(fromOssie(ossie), patch.data);
  return { ktx, ossie, stale };
}

/** Adds what ktx cannot express of the Ossie object to the ktx object, under `extensions.ossie`. */
export function keepOssieOnlyKeys(
  { ktx, ossie }: Pick<Decoded, 'ktx' | 'ossie'>,
  toOssie: OssieCodec['toOssie'],
): PlainObject {
  const lost = makePatch(toOssie(ktx) ?? {}, ossie);
  if (lost === undefined) return ktx;
  const extensions = isRecord(ktx['extensions']) ? ktx['extensions'] : {};
  return { ...ktx, extensions: { ...extensions, ossie: lost } };
}
