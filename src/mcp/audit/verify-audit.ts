import { sha256 } from '../../lib/hash.ts';
import { projectPaths } from '../../store/directories.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import type { SharedChain } from '../../store/shared/shared-chain.ts';
import { type AuditHead, openAuditHead } from './audit-head.ts';
import { type FoundLine, listAuditFiles, readAuditFile, readSharedAudit } from './read-audit.ts';

/** What is wrong at one place of the audit, in words. */
interface AuditProblem {
  readonly file: string;
  /** The line in the file, from 1; 0 for the end of the audit. */
  readonly line: number;
  readonly kind: 'changed' | 'missing' | 'out_of_order' | 'no_line';
  readonly problem: string;
}

/** Bytes that no answer belongs to: ktx ended while it wrote them. */
interface Unfinished {
  readonly file: string;
  readonly line: number;
  readonly bytes: number;
}

/** A line that somebody noted down earlier. */
export interface NotedLine {
  readonly seq: number;
  readonly hash: string;
}

export interface AuditVerdict {
  /** `unfinished`: whole, but a crash left something at its end. */
  readonly state: 'whole' | 'unfinished' | 'damaged';
  readonly lines: number;
  /** The last line, to note down elsewhere. */
  readonly head: NotedLine;
  readonly problems: readonly AuditProblem[];
  readonly unfinished: readonly Unfinished[];
}

interface VerifyOptions {
  readonly env: HostEnvironment;
  /** A line that must be there as it was. */
  readonly expect?: NotedLine | undefined;
}

/** Reads the whole audit of a project, and compares it with its chain and its known end. */
export async function verifyAudit(
  dir: string,
  { env, expect }: VerifyOptions,
): Promise<AuditVerdict> {
  const { audit: folder } = projectPaths(dir);
  const store = openAuditHead(dir, env);
  try {
    const { head, files } = store.inspect((end) => ({ head: end, files: listAuditFiles(folder) }));
    const chain = new Chain(head, expect);
    for (const file of files) chain.readFile(await readAuditFile(folder, file));
    return chain.conclude();
  } finally {
    store.close();
  }
}

/**
 * The same for the audit that several servers write together. Its end is where it ends; what this
 * machine wrote last has to be there as it was.
 */
export async function verifySharedAudit(
  dir: string,
  shared: SharedChain,
  { env, expect }: VerifyOptions,
): Promise<AuditVerdict> {
  const store = openAuditHead(dir, env, 'shared');
  try {
    const { seq, hash } = store.inspect((end) => end);
    const last = await shared.last();
    const head = { seq: last?.seq ?? 0, hash: last === undefined ? '' : sha256(last.text) };
    const own = seq === 0 ? [] : [{ seq, hash }];
    const chain = new Chain({ ...head, file: '', bytes: 0 }, expect, own);
    for await (const lines of readSharedAudit(shared))
      chain.readFile(lines.filter(({ number }) => number <= head.seq));
    return chain.conclude();
  } finally {
    store.close();
  }
}

/** Follows the lines from the first to the last, and collects what does not fit. */
class Chain {
  readonly #head: AuditHead;
  readonly #problems: AuditProblem[] = [];
  readonly #unfinished: Unfinished[] = [];
  #lines = 0;
  #seq = 0;
  /** Undefined after a line whose hash is not known. */
  #hash: string | undefined = '';
  #isUnfinishedAtEnd = false;
  /** What has to be there, and was not seen yet. */
  readonly #noted: Map<number, string>;
  readonly #expected: number | undefined;
  /** What has to be said of the lines before the first one that is there. */
  #begin: (NotedLine & { readonly found: FoundLine }) | undefined;
  readonly #pruned: NotedLine[] = [];
  /** The last line of each file. */
  readonly #ends = new Map<number, string>();

  constructor(head: AuditHead, expect: NotedLine | undefined, own: readonly NotedLine[] = []) {
    this.#head = head;
    const noted = [...own, ...(expect === undefined ? [] : [expect])];
    this.#noted = new Map(noted.map(({ seq, hash }) => [seq, hash]));
    this.#expected = expect?.seq;
  }

  readFile(found: readonly FoundLine[]): void {
    this.#beginAt(found[0]);
    this.#readLines(found);
    if (this.#hash !== undefined) this.#ends.set(this.#seq, this.#hash);
  }

  #readLines(found: readonly FoundLine[]): void {
    const resumed = new Map(
      found.flatMap((each) => (each.line?.kind === 'resumed' ? [[each.line.seq, each]] : [])),
    );
    for (let index = 0; index < found.length; index += 1) {
      const current = found[index] as FoundLine;
      if (this.#isAtHead()) return this.#endWith(tailFrom(found, current));
      const resumption = resumed.get(this.#seq + 1);
      const skipped =
        resumption && this.#follows(resumption) && skippedBy(found, current, resumption);
      if (resumption && skipped) {
        if (skipped.bytes > 0) this.#unfinished.push(skipped);
        this.#accept(resumption);
        index = resumption.number - 1;
      } else if (this.#follows(current)) this.#accept(current);
      else this.#refuse(current);
    }
  }

  conclude(): AuditVerdict {
    const { seq, hash } = this.#head;
    this.#checkBegin();
    if (this.#seq < seq)
      this.#report('missing', `lines ${this.#seq + 1} to ${seq} are missing at the end.`);
    else if (!this.#isAtHead())
      this.#report('changed', `the last line is not line ${seq} as it was written.`);
    if (seq === 0 && this.#isUnfinishedAtEnd)
      this.#report('changed', 'there are lines, but their end is not known on this machine.');
    for (const noted of this.#noted.keys())
      this.#report('changed', `line ${noted} is not the one that was noted.`);
    const [problems, unfinished] = [this.#problems, this.#unfinished];
    const whole = this.#isUnfinishedAtEnd ? 'unfinished' : 'whole';
    const state = problems.length > 0 ? 'damaged' : whole;
    return { state, lines: this.#lines, head: { seq, hash }, problems, unfinished };
  }

  /** The chain may begin later than with line 1. Whether it may, a later line has to say. */
  #beginAt(first: FoundLine | undefined): void {
    const isFirst = this.#seq === 0 && this.#lines === 0 && this.#problems.length === 0;
    if (!isFirst || first?.line === undefined || first.line.seq <= 1) return;
    const { seq, prev } = first.line;
    this.#begin = { seq: seq - 1, hash: prev, found: first };
    [this.#seq, this.#hash] = [seq - 1, prev];
  }

  /** Lines that a line of the chain says were removed because of their age are not missing. */
  #checkBegin(): void {
    const begin = this.#begin;
    if (begin === undefined) return;
    const isKnown = this.#pruned.some(({ seq, hash }) =>
      seq === begin.seq ? hash === begin.hash : seq > begin.seq && this.#ends.get(seq) === hash,
    );
    if (!isKnown) {
      const problem = `lines 1 to ${begin.seq} are missing before it.`;
      const { file, number: line } = begin.found;
      this.#problems.unshift({ file, line, kind: 'missing', problem });
      return;
    }
    for (const [seq, hash] of this.#noted) {
      const isSame = seq === begin.seq && hash === begin.hash;
      if (isSame || (seq <= begin.seq && seq !== this.#expected)) this.#noted.delete(seq);
    }
  }

  #isAtHead(): boolean {
    const { seq, hash } = this.#head;
    return this.#seq === seq && (this.#hash === undefined || this.#hash === hash);
  }

  #follows({ line }: FoundLine): boolean {
    const isNext = line?.seq === this.#seq + 1;
    return isNext && (this.#hash === undefined || line.prev === this.#hash);
  }

  #accept({ hash, line }: FoundLine): void {
    if (line?.kind === 'pruned')
      this.#pruned.push({ seq: line.through, hash: line.through_sha256 });
    this.#lines += 1;
    this.#seq += 1;
    this.#hash = hash;
    if (this.#noted.get(this.#seq) === hash) this.#noted.delete(this.#seq);
  }

  /** A line that does not follow the one before it. The check goes on from this line. */
  #refuse(found: FoundLine): void {
    const { line } = found;
    const next = this.#seq + 1;
    if (line === undefined) {
      this.#report('no_line', `this is no line of the audit; line ${next} was here.`, found);
      [this.#seq, this.#hash] = [next, undefined];
      return;
    }
    this.#lines += 1;
    if (line.seq < next) {
      this.#report('out_of_order', `line ${line.seq} stands where line ${next} was.`, found);
      this.#hash = undefined;
      return;
    }
    if (line.seq === next)
      this.#report('changed', `the line before it, ${next - 1}, is not as it was written.`, found);
    else this.#report('missing', `lines ${next} to ${line.seq - 1} are missing before it.`, found);
    [this.#seq, this.#hash] = [line.seq, found.hash];
  }

  #endWith(unfinished: Unfinished): void {
    this.#unfinished.push(unfinished);
    this.#isUnfinishedAtEnd = true;
  }

  #report(kind: AuditProblem['kind'], problem: string, found?: FoundLine): void {
    const { file = this.#head.file, number: line = 0 } = found ?? {};
    this.#problems.push({ file, line, kind, problem });
  }
}

/** What a crash left from `current` up to the line that says so; undefined if it says otherwise. */
function skippedBy(
  found: readonly FoundLine[],
  current: FoundLine,
  resumption: FoundLine,
): Unfinished | undefined {
  const { line } = resumption;
  if (line?.kind !== 'resumed' || resumption.start < current.start) return undefined;
  const between = found.filter(({ start }) => start >= current.start && start < resumption.start);
  const text = Buffer.concat(between.flatMap(({ bytes }) => [bytes, Buffer.from('\n')]));
  // The end of a torn line was added when the next one was written.
  const tail = text.subarray(0, line.unfinished_bytes);
  const isAll = text.length - tail.length <= 1;
  if (!isAll || sha256(tail) !== line.unfinished_sha256) return undefined;
  return { file: current.file, line: current.number, bytes: tail.length };
}

function tailFrom(found: readonly FoundLine[], current: FoundLine): Unfinished {
  const last = found.at(-1) ?? current;
  const bytes = last.start + last.bytes.length + (last.isWhole ? 1 : 0) - current.start;
  return { file: current.file, line: current.number, bytes };
}
