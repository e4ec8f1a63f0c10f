import { isRecord, parseJson } from '../../../lib/json.ts';
import { omitKeys, type PlainObject } from '../patch.ts';

const vendor = 'KTX';

/** Adds ktx's own entry to the `custom_extensions` of an Ossie object. */
export function addKtxExtension(object: PlainObject, data: unknown): PlainObject {
  const others = object['custom_extensions'];
  const own = { vendor_name: vendor, data: JSON.stringify(data) };
  return { ...object, custom_extensions: [...(Array.isArray(others) ? others : []), own] };
}

/**
 * Takes ktx's own entry, always the last, out of the `custom_extensions`. `data` is undefined if
 * there is none.
 */
export function splitKtxExtension(object: PlainObject): {
  readonly object: PlainObject;
  readonly data: unknown;
} {
  const extensions = object['custom_extensions'];
  const last: unknown = Array.isArray(extensions) ? extensions.at(-1) : undefined;
  const json = isRecord(last) && last['vendor_name'] === vendor ? last['data'] : undefined;
  if (!Array.isArray(extensions) || typeof json !== 'string') return { object, data: undefined };
  const others: unknown[] = extensions.slice(0, -1);
  const rest = omitKeys(object, 'custom_extensions');
  return {
    object: others.length === 0 ? rest : { ...rest, custom_extensions: others },
    data: parseJson(json),
  };
}
