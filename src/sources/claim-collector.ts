import type { Claim, ClaimKind, Evidence } from '../context/claims/claim.ts';
import type { Json } from '../lib/json.ts';
import {
  itemPath,
  type Extraction,
  type Item,
  type LeftOutStatement,
  type UnreadText,
} from './source.ts';

/** A line of an item, and the words that stand there. */
export interface ItemPlace {
  /** The key of the item. */
  readonly key: string;
  /** From 1. */
  readonly line: number;
  readonly quote?: string | undefined;
}

type ItemLine = Pick<ItemPlace, 'key' | 'line'>;

/** A claim without its evidence, which the collector adds. */
interface ClaimContent {
  readonly subject: string;
  readonly kind: ClaimKind;
  readonly body: Json;
  /** Below 1 where another statement of the source counts more; 1 without it. */
  readonly confidence?: number;
  /** True for what no line of the source says by itself. */
  readonly isDerived?: boolean;
}

/**
 * Collects what an extraction reads, item by item. What is added for an item that is not there is
 * dropped.
 */
export interface ClaimCollector {
  addClaim(place: ItemPlace, claim: ClaimContent): void;
  addProblem(place: ItemLine, reason: string): void;
  addUnread(place: ItemLine, unread: Pick<UnreadText, 'what' | 'text'>): void;
  /** A statement that ktx understands and has no place for: its kind (`unit test`) and its name. */
  leaveOut(place: ItemLine, what: string | Omit<LeftOutStatement, 'location'>): void;
  /** Counts a statement that a claim of another statement already says. */
  count(place: ItemLine): void;
  /** One for each item, in the order of the items. */
  extractions(): readonly Extraction[];
}

const longestQuote = 300;

export function openClaimCollector(
  items: readonly Item[],
  { connection, extractor }: { readonly connection: string; readonly extractor: string },
): ClaimCollector {
  const collected = new Map(
    items.map(({ key, path }) => [
      key,
      {
        path,
        claims: [] as Claim[],
        problems: [] as Problem[],
        unread: [] as UnreadText[],
        leftOut: [] as LeftOutStatement[],
        lines: new Set<number>(),
        evidence: undefined as Evidence | undefined,
      },
    ]),
  );
  return {
    addClaim: ({ key, line, quote }, { confidence = 1, isDerived = false, ...claim }) => {
      const own = collected.get(key);
      if (own === undefined) return;
      // What is derived stands in no words: the line of the thing is enough.
      const said = isDerived ? quote?.split('\n', 1)[0] : quote;
      const words = said?.slice(0, longestQuote).trim().toWellFormed();
      const evidence: Evidence = {
        connection,
        origin: 'code',
        extractor,
        item: itemPath(connection, own.path),
        location: `line ${line}`,
        ...(words ? { quote: words } : {}),
        confidence,
      };
      // What one line says is one piece of evidence for all of its claims, here and in the thread
      // that gets a copy of them: with thousands of objects it is most of the memory.
      if (!isSameEvidence(own.evidence, evidence)) own.evidence = evidence;
      own.claims.push({ ...claim, evidence: [own.evidence ?? evidence] });
      if (!isDerived) own.lines.add(line);
    },
    addProblem: ({ key, line }, reason) =>
      collected.get(key)?.problems.push({ location: `line ${line}`, reason }),
    addUnread: ({ key, line }, unread) =>
      collected.get(key)?.unread.push({ location: `line ${line}`, ...unread }),
    leaveOut: ({ key, line }, what) =>
      collected.get(key)?.leftOut.push({
        location: `line ${line}`,
        ...(typeof what === 'string' ? { what } : what),
      }),
    count: ({ key, line }) => collected.get(key)?.lines.add(line),
    extractions: () =>
      items.map(({ key }) => {
        const own = collected.get(key);
        const { claims = [], problems = [], unread = [], leftOut = [] } = own ?? {};
        return { key, claims, problems, unread, leftOut, statements: own?.lines.size ?? 0 };
      }),
  };
}

function isSameEvidence(before: Evidence | undefined, evidence: Evidence): boolean {
  return (
    before !== undefined &&
    before.location === evidence.location &&
    before.quote === evidence.quote &&
    before.confidence === evidence.confidence
  );
}

type Problem = NonNullable<Extraction['problems']>[number];
