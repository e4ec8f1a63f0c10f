import { type JinjaCall, jinjaTags, parseJinjaCall } from './jinja.ts';

/** The unique ids that `ref` and `source` refer to. */
export interface References {
  readonly add: (kind: ReferenceKind, names: readonly string[], id: string) => void;
  /**
   * The id of a call as it is written, with or without braces: `ref('orders')`, `ref('orders',
   * v=2)`, `source('raw', 'orders')`.
   */
  readonly idOf: (written: string) => string | undefined;
  readonly idOfCall: (call: JinjaCall) => string | undefined;
}

type ReferenceKind = 'ref' | 'source';

export function openReferences(): References {
  const ids = new Map<string, string>();
  const keyOf = (kind: string, names: readonly string[]) => JSON.stringify([kind, ...names]);
  const idOfCall = (call: JinjaCall) => {
    if (call.name !== 'ref' && call.name !== 'source') return undefined;
    const names = call.positional.map(String);
    const version = call.named.get('v') ?? call.named.get('version');
    const versioned = version === undefined ? names : [...names, `v${String(version)}`];
    return ids.get(keyOf(call.name, versioned));
  };
  return {
    add: (kind, names, id) => void ids.set(keyOf(kind, names), id),
    idOf: (written) => {
      const call = parseJinjaCall(withoutBraces(written));
      return call === undefined ? undefined : idOfCall(call);
    },
    idOfCall,
  };
}

function withoutBraces(written: string): string {
  const text = written.trim();
  const [tag] = jinjaTags(text);
  const isWhole = tag?.kind === 'expression' && tag.start === 0 && tag.end === text.length;
  return isWhole ? tag.inside : text;
}
