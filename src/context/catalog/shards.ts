import { shortHash } from '../../lib/hash.ts';

/** A line of a file that is split once it is large; lines of one key stay together. */
interface KeyedLine {
  readonly key: string;
  /** Without the line break at its end. */
  readonly line: string;
}

/** A file above this size is split. */
const largestShard = 1_000_000;
/** As long as a hash is told apart. */
const longestPrefix = 8;

interface ShardOptions {
  /** The prefixes of the shards that there are now; '' is the file that is not split. */
  readonly existing: ReadonlySet<string>;
  readonly limit?: number;
}

/**
 * The text of each shard, by the hexadecimal digits with which the hashes of its keys begin; one
 * shard '' as long as everything fits. A shard that grows beyond the limit is split into sixteen,
 * and only the lines in it move. It is joined again below half the limit, so that a few lines more
 * or less move nothing back and forth.
 */
export function shardLines(
  lines: readonly KeyedLine[],
  { existing, limit = largestShard }: ShardOptions,
): Map<string, string> {
  const shards = new Map<string, string>();
  const add = (prefix: string, own: readonly KeyedLine[]): void => {
    const isSplit = [...existing].some((name) => name !== prefix && name.startsWith(prefix));
    const bytes = own.reduce((sum, { line }) => sum + Buffer.byteLength(line) + 1, 0);
    const isSmall = bytes <= (isSplit ? limit / 2 : limit);
    if (isSmall || prefix.length === longestPrefix) {
      if (own.length > 0) shards.set(prefix, own.map(({ line }) => `${line}\n`).join(''));
      return;
    }
    const digitOf = ({ key }: KeyedLine) => shortHash(key, longestPrefix)[prefix.length] ?? '';
    for (const [digit, part] of Map.groupBy(own, digitOf)) add(prefix + digit, part);
  };
  add('', lines);
  return shards;
}

/** True for the text of one file that is to be split. */
export function isTooLarge(text: string): boolean {
  return Buffer.byteLength(text) > largestShard;
}

/** Where a shard is: `wiki.jsonl`, once it is split `wiki/0.jsonl`, `wiki/3f.jsonl`. */
export function shardPath(path: string, prefix: string): string {
  return prefix === '' ? path : `${shardFolder(path)}/${prefix}.jsonl`;
}

/** The folder of the shards of a `.jsonl` file. */
export function shardFolder(path: string): string {
  return path.slice(0, -'.jsonl'.length);
}

/** The paths of the shards of a file among these, sorted, with their prefixes. */
export function findShards(path: string, candidates: Iterable<string>): Map<string, string> {
  return new Map(
    [...candidates]
      .flatMap((candidate): [string, string][] => {
        const prefix = shardPrefix(path, candidate);
        return prefix === undefined ? [] : [[candidate, prefix]];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** The prefix of a shard's path; undefined if it is none of this file. */
function shardPrefix(path: string, candidate: string): string | undefined {
  if (candidate === path) return '';
  const folder = `${shardFolder(path)}/`;
  if (!candidate.startsWith(folder)) return undefined;
  return /^([0-9a-f]{1,8})\.jsonl$/.exec(candidate.slice(folder.length))?.[1];
}
