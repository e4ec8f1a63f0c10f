import { isRecord } from '../../../lib/json.ts';
import { readLocatedYaml } from '../../../lib/located-yaml.ts';
import type { Place } from '../../findings.ts';
import type { Item } from '../../source.ts';
import type { DbtConfig } from '../config.ts';
import type { Fault } from '../facts.ts';
import { type Call, type Known, render, type Rendered } from './jinja.ts';
import type { ProjectFile } from './project-file.ts';

/** What reading the files of a project goes by. */
export interface Reading {
  readonly project: ProjectFile;
  readonly config: DbtConfig;
  /** By name. */
  readonly docs: ReadonlyMap<string, DocBlock>;
  readonly faults: Fault[];
}

export interface DocBlock {
  readonly text: string;
  readonly place: Place;
}

export type Mapping = Readonly<Record<string, unknown>>;

/** A YAML file: its mappings, and where they stand in it. */
export interface YamlItem {
  readonly item: Item;
  readonly top: unknown;
  readonly place: (holder: unknown, key?: string | number) => Place;
}

/** Undefined for a file that is no YAML, which is named. */
export function readYamlItem(
  item: Item,
  { faults }: Pick<Reading, 'faults'>,
): YamlItem | undefined {
  const read = readLocatedYaml(item.body);
  if ('broken' in read) {
    faults.push({
      place: { key: item.key, line: read.broken.line },
      reason: `not YAML: ${read.broken.reason}`,
    });
    return undefined;
  }
  const place = (holder: unknown, key?: string | number): Place => {
    const { line, text: quote } = read.locate(holder, key);
    return { key: item.key, line, quote };
  };
  return { item, top: read.documents[0], place };
}

/** Resolves literals, vars and doc blocks, as `{{ doc('orders') }}`. */
export function resolved({ project, config, docs }: Reading, text: string): Rendered {
  return render(text, (call) => simpleCall(call, { project, config, docs }));
}

function simpleCall(
  { name, positional: [first, second] }: Call,
  reading: Pick<Reading, 'project' | 'config' | 'docs'>,
): Known | undefined {
  if (typeof first !== 'string') return undefined;
  if (name === 'var') return varNamed(reading, first) ?? second;
  return name === 'doc'
    ? reading.docs.get(typeof second === 'string' ? second : first)?.text
    : undefined;
}

function varNamed(
  { project, config }: Pick<Reading, 'project' | 'config'>,
  name: string,
): Known | undefined {
  return config.vars !== undefined && Object.hasOwn(config.vars, name)
    ? config.vars[name]
    : project.vars.get(name);
}

/** The blocks of a Markdown file. */
export function docBlocks({ key, body }: Item): [string, DocBlock][] {
  return [...body.matchAll(/\{%-?\s*docs\s+(\w+)\s*-?%\}(.*?)\{%-?\s*enddocs\s*-?%\}/gs)].map(
    (match) => {
      const [whole, name = '', inside = ''] = match;
      const text = inside.trim();
      const start = match.index + whole.indexOf(text, whole.indexOf('%}'));
      return [
        name,
        { text, place: { key, line: body.slice(0, start).split('\n').length, quote: text } },
      ];
    },
  );
}

export function textAt(mapping: Mapping, key: string): string | undefined {
  const value = mapping[key];
  return typeof value === 'string' ? value : undefined;
}

/** The mappings of a list; what else stands in it is no concern of ktx. */
export function mappingsAt(mapping: Mapping, key: string): readonly Mapping[] {
  return listAt(mapping, key).filter(isRecord);
}

export function listAt(mapping: Mapping, key: string): readonly unknown[] {
  const value = mapping[key];
  return Array.isArray(value) ? value : [];
}

/** As YAML 1.1 has it. */
export function isNo(value: unknown): boolean {
  return value === false || (typeof value === 'string' && /^(false|no|off)$/i.test(value.trim()));
}
