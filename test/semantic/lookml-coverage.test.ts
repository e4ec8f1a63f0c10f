import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  blocksWithKey,
  type LookmlBlock,
  type LookmlPlace,
} from '../../src/semantic/formats/lookml/parse.ts';
import { type LookmlModel, readLookml } from '../../src/semantic/formats/lookml/read.ts';
import { toDatasetName } from '../../src/semantic/formats/imported-model.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';

const [folder] = ['../../../shared/', '../../../../shared/']
  .map((path) => new URL(`${path}data/sources/lookml/`, import.meta.url))
  .filter((url) => existsSync(url));

beforeAll(loadAnalyzer);

const lookmlFiles = (path: string) =>
  readdirSync(new URL(path, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:lkml|lookml)$/.test(file) && !file.includes('.dashboard.'))
    .sort()
    .map((file) => ({
      file,
      text: readFileSync(new URL(`${path}/${encodeURI(file)}`, folder), 'utf8'),
    }));

/** Read and written. */
type Share = readonly [read: number, written: number];

interface Coverage {
  readonly fields: Share;
  readonly measures: Share;
  readonly joins: Share;
  /** Joins to views that other files have, which are not here. */
  readonly elsewhere: number;
  /** Blocks that were neither read nor named. */
  readonly silent: readonly string[];
}

const placeKey = ({ file, line }: LookmlPlace) => `${file}:${line}`;
const add = (shares: readonly Share[]): Share =>
  shares.reduce<Share>(([a, b], [read, written]) => [a + read, b + written], [0, 0]);

function coverageOf(model: LookmlModel): Coverage {
  const read = new Set([...model.places.values()].map(placeKey));
  const joined = new Set(model.joins.map(({ place }) => placeKey(place)));
  const messages = Map.groupBy(model.misfits, ({ place }) => placeKey(place));
  const said = ({ place }: LookmlBlock) =>
    (messages.get(placeKey(place)) ?? []).map(({ message }) => message);
  const datasets = new Set(model.datasets.map(({ dataset }) => dataset));
  const views = model.project.views.filter(({ name }) => datasets.has(toDatasetName(name)));
  const members = (...keys: readonly string[]) =>
    views.flatMap((view) => keys.flatMap((key) => blocksWithKey(view.value, key)));
  const one = (block: LookmlBlock): Share => [read.has(placeKey(block.place)) ? 1 : 0, 1];
  const joins = model.project.explores.flatMap(({ value }) => blocksWithKey(value, 'join'));
  const isElsewhere = (join: LookmlBlock) => said(join).some((text) => text.includes('no view '));
  const dimensions = members('dimension', 'dimension_group');
  const measures = members('measure');
  const lost = [...dimensions, ...measures].filter(({ place }) => !read.has(placeKey(place)));
  const lostJoins = joins.filter(({ place }) => !joined.has(placeKey(place)));
  return {
    fields: add(dimensions.map((block) => expanded(block, one(block), said(block)))),
    measures: add(measures.map(one)),
    joins: add(
      joins
        .filter((join) => !isElsewhere(join))
        .map(({ place }): Share => [joined.has(placeKey(place)) ? 1 : 0, 1]),
    ),
    elsewhere: joins.filter(isElsewhere).length,
    silent: [...lost, ...lostJoins]
      .filter((block) => !said(block).some((text) => text.startsWith('left out')))
      .map(({ key, name, place }) => `${placeKey(place)} ${key} ${name}`),
  };
}

/** A group counts once for each timeframe that it lists. */
function expanded(block: LookmlBlock, [read]: Share, said: readonly string[]): Share {
  const listed = block.value.find(({ key }) => key === 'timeframes')?.value;
  if (block.key !== 'dimension_group' || !Array.isArray(listed)) return [read, 1];
  const [, lost] = said
    .map((text) => /^the timeframes (.*) are left out/.exec(text))
    .find((match) => match !== null) ?? ['', undefined];
  const left = lost === undefined ? 0 : lost.split(', ').length;
  const count = new Set(listed).size;
  return [read === 0 ? 0 : count - left, count];
}

const percent = ([read, written]: Share) =>
  written === 0 ? 'none' : `${((100 * read) / written).toFixed(1)} % of ${written}`;

/** Which half a project belongs to: nobody looks at the second while the reader is worked on. */
const isSetAside = (name: string) =>
  Number.parseInt(createHash('sha256').update(name).digest('hex').slice(0, 1), 16) % 2 === 1;

describe.runIf(folder !== undefined)('LookML that companies wrote', () => {
  const folders = (path: string) =>
    folder === undefined ? [] : readdirSync(new URL(path, folder)).map((name) => `${path}/${name}`);
  const duckdb = findDialect('duckdb');
  const read = (files: ReturnType<typeof lookmlFiles>) =>
    coverageOf(readLookml(files, { dialect: duckdb }));

  test.each(folders('projects'))(
    '%s: at least 95 % of fields, 90 % of measures, 85 % of joins',
    (path) => {
      const { fields, measures, joins, silent } = read(lookmlFiles(path));
      process.stdout.write(
        `${path} (${isSetAside(path) ? 'second' : 'first'} half): fields ${percent(fields)}, measures ${percent(measures)}, joins ${percent(joins)}\n`,
      );
      const share = ([got, written]: Share) => got / written;
      expect(share(fields)).toBeGreaterThanOrEqual(0.95);
      expect(share(measures)).toBeGreaterThanOrEqual(0.9);
      expect(share(joins)).toBeGreaterThanOrEqual(0.85);
      expect(silent).toEqual([]);
    },
  );

  test('every file is read or refused by name, and every derived table is SQL or has a reason', () => {
    const single = ['lkml-github', 'lkml-own'].flatMap((path) =>
      lookmlFiles(path).map((file) => [file]),
    );
    const projects = ['projects', 'datahub', 'node-lookml-parser'].flatMap(folders);
    const groups = [...single, ...[...projects, 'henry-test-project'].map(lookmlFiles)];
    const models = groups.map((files) => readLookml(files, { dialect: duckdb }));
    const refused = models.flatMap(({ misfits }) =>
      misfits.flatMap(({ at, message }) => (/^\S+ file /.test(at) ? [`${at}: ${message}`] : [])),
    );
    // Looker refuses this one, too.
    expect(refused).toEqual([expect.stringContaining('x-no-empty-middle.view.lkml')]);
    const derived = models.flatMap(({ project, datasets, misfits }) =>
      project.views
        .filter(({ value }) => blocksWithKey(value, 'derived_table').length > 0)
        .map(({ name, place }) => ({
          name: `${placeKey(place)} ${name}`,
          isSql: datasets.some((own) => own.dataset === toDatasetName(name) && own.sql),
          isSaid: misfits.some(
            (misfit) =>
              placeKey(misfit.place) === placeKey(place) &&
              /^(?:left out|its table cannot be read)/.test(misfit.message),
          ),
        })),
    );
    const asSql = derived.filter(({ isSql }) => isSql).length;
    const count = groups.flat().length;
    process.stdout.write(
      `${count} files: ${count - refused.length} read, ${refused.length} refused; ` +
        `derived tables: ${percent([asSql, derived.length])} as SQL, the others with a reason\n`,
    );
    expect(derived.filter(({ isSql, isSaid }) => !isSql && !isSaid)).toEqual([]);
  });

  test('single files and small projects: what is not read is named', () => {
    const projects = [
      ...[...folders('datahub'), ...folders('node-lookml-parser'), 'henry-test-project'].map(
        (path) => ({ name: path, files: lookmlFiles(path) }),
      ),
      ...lookmlFiles('lkml-github').map((file) => ({
        name: `lkml-github/${file.file}`,
        files: [file],
      })),
    ];
    const all = projects.map(({ name, files }) => ({ name, ...read(files) }));
    for (const half of [false, true]) {
      const own = all.filter(({ name }) => isSetAside(name) === half);
      const total = (key: 'fields' | 'measures' | 'joins') =>
        percent(add(own.map((coverage) => coverage[key])));
      const elsewhere = own.reduce((sum, coverage) => sum + coverage.elsewhere, 0);
      process.stdout.write(
        `${half ? 'second' : 'first'} half of ${own.length}: fields ${total('fields')}, measures ${total('measures')}, joins ${total('joins')}, and ${elsewhere} joins to views that are not there\n`,
      );
    }
    expect(all.flatMap(({ silent }) => silent)).toEqual([]);
  });
});
