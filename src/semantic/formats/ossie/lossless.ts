import { z } from 'zod';
import { differences, type Entry, isEntry, type Patch, patched, same, without } from '../patch.ts';

const vendor = 'KTX';

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

/** The two forms of one thing: `out` to Ossie, undefined where it has no words for it; `back` to ktx. */
export interface Forms {
  readonly out: (view: Entry) => Entry | undefined;
  readonly back: (ossie: Entry) => Entry;
}

interface Written {
  readonly entry: Entry;
  /** Keys that only ktx understands. */
  readonly aside: readonly string[];
}

/** As Ossie, with what it has no word for in an extension of ktx; undefined where that would be all. */
export function written(view: Entry, { out, back }: Forms): Written | undefined {
  const { kept, patch } = keptPatch(view);
  const plain = out(kept);
  if (plain === undefined && patch === undefined) return undefined;
  const entry = patch === undefined ? (plain ?? {}) : patched(plain ?? {}, patch).value;
  const rest = differences(back(entry), kept);
  const aside = [
    ...Object.keys(rest?.add ?? {}),
    ...(rest?.replace ?? []).map(({ path }) => path[0] ?? ''),
  ];
  return { entry: rest === undefined ? entry : extended(entry, rest), aside: [...new Set(aside)] };
}

interface Read {
  readonly view: Entry;
  /** What Ossie says, without ktx's own extension. */
  readonly entry: Entry;
  /** What an edit since has made void. */
  readonly stale: readonly string[];
}

/** As ktx has it, what ktx had added included. */
export function read(given: Entry, back: Forms['back']): Read {
  const { entry, data } = extensionOf(given);
  const patch = patchSchema.safeParse(data);
  if (!patch.success) return { view: back(entry), entry, stale: [] };
  const { value: view, stale } = patched(back(entry), patch.data);
  return { view, entry, stale };
}

/** With what ktx has no word for among its extensions. */
export function completed({ view, entry }: Read, out: Forms['out']): Entry {
  const rest = differences(out(view) ?? {}, entry);
  if (rest === undefined) return view;
  const extensions = isEntry(view['extensions']) ? view['extensions'] : {};
  return { ...view, extensions: { ...extensions, ossie: rest } };
}

export function extended(entry: Entry, data: unknown): Entry {
  const others = entry['custom_extensions'];
  const own = { vendor_name: vendor, data: JSON.stringify(data) };
  return { ...entry, custom_extensions: [...(Array.isArray(others) ? others : []), own] };
}

/** Apart: what others wrote, and the data of ktx's own extension, which is always the last. */
export function extensionOf(given: Entry): { readonly entry: Entry; readonly data: unknown } {
  const all = given['custom_extensions'];
  const last: unknown = Array.isArray(all) ? all.at(-1) : undefined;
  if (
    !Array.isArray(all) ||
    !isEntry(last) ||
    last['vendor_name'] !== vendor ||
    typeof last['data'] !== 'string'
  ) {
    return { entry: given, data: undefined };
  }
  const entry = without(given, 'custom_extensions');
  const others: unknown[] = all.slice(0, -1);
  return {
    entry: others.length === 0 ? entry : { ...entry, custom_extensions: others },
    data: jsonIn(last['data']),
  };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function keptPatch(view: Entry): { readonly kept: Entry; readonly patch: Patch | undefined } {
  const { ossie, ...others } = isEntry(view['extensions']) ? view['extensions'] : {};
  const parsed = patchSchema.safeParse(ossie);
  if (!parsed.success) return { kept: view, patch: undefined };
  const kept = without(view, 'extensions');
  return { kept: same(others, {}) ? kept : { ...kept, extensions: others }, patch: parsed.data };
}
