import { readCall } from './jinja.ts';

/** What `ref` and `source` can mean in a project: unique ids by what is written. */
export interface References {
  readonly add: (kind: 'ref' | 'source', names: readonly string[], id: string) => void;
  /** `ref('orders')`, `ref('shop', 'orders')`, `ref('orders', v=2)`, `source('raw', 'orders')`, with or without braces. */
  readonly idOf: (written: string) => string | undefined;
}

export function openReferences(): References {
  const ids = new Map<string, string>();
  const keyOf = (kind: string, names: readonly string[]) => JSON.stringify([kind, ...names]);
  return {
    add: (kind, names, id) => void ids.set(keyOf(kind, names), id),
    idOf: (written) => {
      const call = readCall(written.replace(/^\s*\{\{-?/, '').replace(/-?\}\}\s*$/, ''));
      if (call === undefined || (call.name !== 'ref' && call.name !== 'source')) return undefined;
      const names = call.positional.map(String);
      const version = call.named.get('v') ?? call.named.get('version');
      const versioned = version === undefined ? names : [...names, `v${String(version)}`];
      return ids.get(keyOf(call.name, versioned));
    },
  };
}
