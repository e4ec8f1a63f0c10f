import { subjects } from '../../context/claims/claim.ts';
import type { Json } from '../../lib/json.ts';
import type { Findings, Place } from '../findings.ts';
import { claimSemantics, type StatedModel } from '../semantic-models.ts';
import type { FindTable, KnownTable } from '../tables.ts';
import type { Exposure, ProjectFacts, Relation, Test } from './facts.ts';

/** Claims what the facts say of tables that a warehouse has. */
export function claimFacts(facts: ProjectFacts, tableOf: FindTable, findings: Findings): void {
  for (const { place, reason } of facts.faults) findings.problem(place, reason);
  const tables = matchTables(facts, tableOf, findings);
  for (const relation of facts.relations.values()) {
    const table = tables.get(relation.id);
    if (table !== undefined) claimRelation(relation, table, { tables, findings });
  }
  const models = facts.semanticModels.map((fact): StatedModel => {
    const table = tables.get(fact.model ?? '');
    const written = JSON.stringify(fact.raw['model'] ?? fact.raw['name']);
    const missing = facts.relations.has(fact.model ?? '')
      ? 'its model has no table in the warehouse'
      : `there is no model ${written}`;
    return { ...fact, table: table ?? { missing } };
  });
  claimSemantics(models, facts.metrics, findings);
  for (const exposure of facts.exposures) claimExposure(exposure, tables, findings);
}

type Tables = ReadonlyMap<string, KnownTable>;

/** Tables by the id of their relation. A table of a source is that source's, whatever models are called. */
function matchTables({ relations }: ProjectFacts, tableOf: FindTable, findings: Findings): Tables {
  const tables = new Map<string, KnownTable>();
  const bySource = new Set<KnownTable>();
  const without = new Map<string, { readonly place: Place; readonly names: string[] }>();
  const isSource = ({ kind }: Relation) => (kind === 'source' ? 0 : 1);
  for (const relation of [...relations.values()].toSorted((a, b) => isSource(a) - isSource(b))) {
    const match = relation.isVirtual
      ? undefined
      : tableOf(relation, relation.isExact ? new Set() : bySource);
    if (match === undefined) continue;
    if ('among' in match) {
      findings.problem(
        relation.place,
        `${relation.kind} ${relation.name} could be ${match.among.join(' or ')}; set warehouse or target_schema in ktx.yaml`,
      );
      continue;
    }
    // What lies outside of what the warehouse's connection reads is no concern of it.
    if ('none' in match && match.isOutside) continue;
    if ('none' in match) {
      const { place, name } = relation;
      const group = without.get(place.key) ?? { place, names: [] };
      group.names.push(name);
      without.set(place.key, group);
      continue;
    }
    tables.set(relation.id, match.table);
    if (relation.kind === 'source') bySource.add(match.table);
  }
  for (const { place, names } of without.values())
    findings.problem(place, `no table in the warehouse for ${names.join(', ')}`);
  return tables;
}

interface Context {
  readonly tables: Tables;
  readonly findings: Findings;
}

function claimRelation(relation: Relation, table: KnownTable, { tables, findings }: Context): void {
  const { connection, dataset } = table;
  const about = subjects.dataset(connection, dataset);
  const { description, tags, columns, tests, name } = relation;
  if (description)
    findings.claim(description.place, {
      subject: about,
      kind: 'description',
      body: description.text,
    });
  const [tag] = tags;
  if (tag)
    findings.claim(tag.place, {
      subject: about,
      kind: 'tags',
      body: [...new Set(tags.map((one) => one.name))].sort(),
    });
  const unknown = new Map<string, Place>();
  for (const column of columns) {
    const field = table.field(column.name);
    if (field === undefined) unknown.set(column.name, column.description?.place ?? relation.place);
    else if (column.description) {
      const subject = subjects.field(connection, dataset, field);
      findings.claim(column.description.place, {
        subject,
        kind: 'description',
        body: column.description.text,
      });
    }
  }
  const known = tests.filter((test) => {
    const strange = test.columns.filter((column) => table.field(column) === undefined);
    for (const column of strange) unknown.set(column, test.place);
    return strange.length === 0 && test.columns.length > 0;
  });
  const [place] = unknown.values();
  if (place)
    findings.problem(place, `${name}: the table has no column ${[...unknown.keys()].join(', ')}`);
  claimKeys(known, table, findings);
  for (const test of known) claimTest(test, table, { tables, findings });
}

/** A key that is unique and never null is the primary one where it is the only such; what says so itself comes first. */
function claimKeys(tests: readonly Test[], table: KnownTable, findings: Findings): void {
  const { connection, dataset } = table;
  const subject = subjects.dataset(connection, dataset);
  const fields = ({ columns }: Test) => columns.map((column) => table.field(column) ?? column);
  const filled = new Set(tests.filter(({ name }) => name === 'not_null').flatMap(fields));
  const declared = tests.filter(({ name }) => name === 'primary_key');
  const unique = [
    ...new Map(
      tests.filter(({ name }) => name === 'unique').map((test) => [fields(test).join(), test]),
    ).values(),
  ];
  const full = unique.filter((test) => fields(test).every((field) => filled.has(field)));
  const primary = declared.length > 0 ? declared.slice(0, 1) : full.length === 1 ? full : [];
  for (const test of primary)
    findings.claim(test.place, { subject, kind: 'primary_key', body: fields(test) });
  const others = unique.filter(
    (test) => !primary.some((key) => fields(key).join() === fields(test).join()),
  );
  for (const test of others)
    findings.claim(test.place, { subject, kind: 'unique_key', body: fields(test) });
}

function claimTest(test: Test, table: KnownTable, { tables, findings }: Context): void {
  const { connection, dataset } = table;
  const fields = test.columns.map((column) => table.field(column) ?? column);
  const [field] = fields;
  if (test.name === 'accepted_values' && field !== undefined) {
    const values = (test.values ?? []).filter((one): one is string | number | boolean =>
      ['string', 'number', 'boolean'].includes(typeof one),
    );
    if (values.length > 0)
      findings.claim(test.place, {
        subject: subjects.field(connection, dataset, field),
        kind: 'values',
        body: values,
      });
  }
  if (test.name !== 'relationships' || test.to === undefined) return;
  const target = tables.get(test.to.id ?? '');
  const targets = test.to.columns.map((column) => target?.field(column));
  const said = `${dataset}.${fields.join(', ')} refers to ${test.to.written}`;
  if (test.to.id === undefined)
    return findings.problem(test.place, `${said}, which the project does not have`);
  if (target === undefined)
    return findings.problem(test.place, `${said}, which has no table in the warehouse`);
  if (target.connection !== connection)
    return findings.problem(test.place, `${said}, which is in the warehouse ${target.connection}`);
  if (targets.length !== fields.length || targets.includes(undefined)) {
    return findings.problem(
      test.place,
      `${said}, which has no ${test.to.columns.join(', ') || 'field named'}`,
    );
  }
  const on = Object.fromEntries(
    fields.map((own, index): [string, Json] => [own, targets[index] ?? own]),
  );
  const body = { to: target.dataset, on, cardinality: 'many_to_one' };
  findings.claim(test.place, {
    subject: subjects.relationship(connection, dataset, fields),
    kind: 'relationship',
    body,
  });
}

/** What people look at stands on a page of the wiki of its own, with the datasets behind it. */
function claimExposure(
  { title, type, description, place, dependsOn }: Exposure,
  tables: Tables,
  findings: Findings,
): void {
  const name = `${title} (${type})`;
  const subject = subjects.term(name);
  const datasets = dependsOn
    .flatMap((id) => tables.get(id) ?? [])
    .map(({ connection, dataset }) => subjects.dataset(connection, dataset));
  findings.claim(place, { subject, kind: 'title', body: name });
  findings.claim(place, { subject, kind: 'page', body: 'exposures' });
  if (description !== '')
    findings.claim(place, { subject, kind: 'description', body: description });
  if (datasets.length > 0)
    findings.claim(place, { subject, kind: 'refs', body: [...new Set(datasets)].sort() });
}
