import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Models of one folder, which share a YAML file. */
const modelsPerFolder = 25;
const rowsPerTable = 20;
/** Models that share a document. */
const modelsPerDocument = 25;
const statuses = ['open', 'paid', 'sent'];

/**
 * Writes a ktx project of a SQLite warehouse and of the dbt project that built its tables: of five
 * models, one has the rows of a customer and four refer to it. Every model has a table, a
 * description, described columns, and tests. A folder of documents defines terms.
 */
export function writeDbtShop(dir: string, models: number): void {
  mkdirSync(join(dir, 'dbt/models'), { recursive: true });
  fillWarehouse(join(dir, 'shop.sqlite'), models);
  writeFileSync(
    join(dir, 'dbt/dbt_project.yml'),
    'name: shop\nversion: "1.0"\nprofile: shop\nmodel-paths: [models]\n',
  );
  for (let first = 0; first < models; first += modelsPerFolder)
    writeFolder(dir, first, Math.min(first + modelsPerFolder, models));
  mkdirSync(join(dir, 'docs'));
  for (let document = 0; document * modelsPerDocument < models; document += 1)
    writeDocument(dir, document, `What area ${document} counts.`);
  const connections = [
    'shop: {driver: sqlite, path: shop.sqlite}',
    'transform: {driver: dbt, path: dbt, target_schema: main}',
    'handbook: {driver: docs, path: docs}',
  ].join('\n  ');
  writeFileSync(join(dir, 'ktx.yaml'), `connections:\n  ${connections}\n`);
  writeFileSync(join(dir, '.gitignore'), 'shop.sqlite\n.ktx/\n');
  execFileSync('git', ['init', '-q'], { cwd: dir });
}

/** Changes the description and the SQL of one model. */
export function changeModel(dir: string, model: number): void {
  const first = model - (model % modelsPerFolder);
  const path = join(dir, folderOf(first), `${nameOf(model)}.sql`);
  writeFileSync(path, `${sqlOf(model)}-- changed\n`);
  const text = yamlOf(first, first + modelsPerFolder);
  const old = descriptionOf(model);
  writeFileSync(join(dir, folderOf(first), 'models.yml'), text.replace(old, `${old} Changed.`));
}

/** Changes the definition of the term of one document. */
export function changeDocument(dir: string, document: number): void {
  writeDocument(dir, document, 'Something else.');
}

function writeDocument(dir: string, document: number, definition: string): void {
  const table = `| Term | Definition |\n|---|---|\n| Word ${document} | ${definition} |\n`;
  writeFileSync(join(dir, `docs/area${document}.md`), `# Area ${document}\n\n${table}`);
}

function writeFolder(dir: string, first: number, end: number): void {
  const folder = join(dir, folderOf(first));
  mkdirSync(folder);
  for (let model = first; model < end; model += 1)
    writeFileSync(join(folder, `${nameOf(model)}.sql`), sqlOf(model));
  writeFileSync(join(folder, 'models.yml'), yamlOf(first, end));
}

function folderOf(first: number): string {
  return `dbt/models/area_${String(first / modelsPerFolder).padStart(3, '0')}`;
}

const isCustomer = (model: number) => model % 5 === 0;

function nameOf(model: number): string {
  const number = String(model).padStart(4, '0');
  return isCustomer(model) ? `dim_customers_${number}` : `fct_orders_${number}`;
}

/** The customers that the orders of the model refer to. */
const customersOf = (model: number) => nameOf(model - (model % 5));

function columnsOf(model: number): readonly (readonly [name: string, type: string])[] {
  return isCustomer(model)
    ? [
        ['customer_id', 'INTEGER PRIMARY KEY'],
        ['full_name', 'TEXT'],
        ['email', 'TEXT'],
        ['country', 'TEXT'],
        ['signed_up_at', 'TIMESTAMP'],
      ]
    : [
        ['order_id', 'INTEGER PRIMARY KEY'],
        ['customer_id', 'INTEGER'],
        ['status', 'TEXT'],
        ['amount', 'DECIMAL(12,2)'],
        ['discount', 'DECIMAL(12,2)'],
        ['ordered_at', 'TIMESTAMP'],
        ['note', 'TEXT'],
      ];
}

function descriptionOf(model: number): string {
  return isCustomer(model)
    ? `Customers of area ${model}, one row for each person.`
    : `Orders of area ${model}, one row for each checkout.`;
}

function sqlOf(model: number): string {
  const columns = columnsOf(model).map(([name]) => `  ${name}`);
  const from = isCustomer(model)
    ? `{{ source('raw', 'people_${model}') }}`
    : `{{ ref('${customersOf(model)}') }}`;
  return `select\n${columns.join(',\n')}\nfrom ${from}\n`;
}

function yamlOf(first: number, end: number): string {
  const models = Array.from({ length: end - first }, (_, index) => modelYaml(first + index));
  const people = Array.from({ length: end - first }, (_, index) => first + index)
    .filter(isCustomer)
    .map((model) => `      - name: people_${model}\n`);
  const sources = `sources:\n  - name: raw\n    schema: raw_${first}\n    tables:\n${people.join('')}`;
  return `version: 2\n${sources}models:\n${models.join('')}`;
}

function modelYaml(model: number): string {
  const columns = columnsOf(model).map(([name]) => columnYaml(model, name));
  return `  - name: ${nameOf(model)}\n    description: ${descriptionOf(model)}\n    columns:\n${columns.join('')}`;
}

function columnYaml(model: number, name: string): string {
  const tests = testsOf(model, name);
  const list = tests.length === 0 ? '' : `        data_tests:\n${tests.join('')}`;
  return `      - name: ${name}\n        description: The ${name.replaceAll('_', ' ')} as area ${model} records it.\n${list}`;
}

function testsOf(model: number, column: string): string[] {
  const key = isCustomer(model) ? 'customer_id' : 'order_id';
  if (column === key) return ['          - unique\n', '          - not_null\n'];
  if (column === 'status')
    return [`          - accepted_values:\n              values: [${statuses.join(', ')}]\n`];
  if (column !== 'customer_id') return [];
  const target = `              to: ref('${customersOf(model)}')\n              field: customer_id\n`;
  return [`          - relationships:\n${target}`];
}

function fillWarehouse(path: string, models: number): void {
  const db = new DatabaseSync(path);
  db.exec('BEGIN');
  for (let model = 0; model < models; model += 1) {
    const columns = columnsOf(model).map(([name, type]) => `${name} ${type}`);
    db.exec(`CREATE TABLE ${nameOf(model)} (${columns.join(', ')})`);
    const rows = isCustomer(model)
      ? `${model} * 100 + i, 'Person ' || i, 'p' || i || '@example.org', CASE i % 3 WHEN 0 THEN 'NO' ELSE 'SE' END, '2025-01-01 10:00:00'`
      : `${model} * 100 + i, ${model - (model % 5)} * 100 + 1 + i % ${rowsPerTable}, CASE i % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'paid' ELSE 'sent' END, i * 3.5 + ${model}, i % 4, '2025-02-0' || (1 + i % 9) || ' 10:00:00', 'note ' || i`;
    db.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rowsPerTable}) INSERT INTO ${nameOf(model)} SELECT ${rows} FROM n`,
    );
  }
  db.exec('COMMIT');
  db.close();
}
