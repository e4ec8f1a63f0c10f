import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What would run, load or reorder something if it were more than text. */
const attacks = [
  '<img src=x onerror="window.hacked=1">',
  '<script>window.hacked=1</script>',
  '"><svg onload=window.hacked=1>',
  'javascript:window.hacked=1',
  '\u202Egnp.exe',
  '{{constructor.constructor("window.hacked=1")()}}',
];

/** A project whose files have such text wherever they take text. The caller removes it. */
export function hostileProject(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-hostile-')));
  mkdirSync(join(dir, 'semantic-layer/shop'), { recursive: true });
  mkdirSync(join(dir, 'claims/shop'), { recursive: true });
  mkdirSync(join(dir, 'wiki'));
  const config = 'connections:\n  shop: {driver: sqlite, path: shop.db}\n';
  writeFileSync(join(dir, 'ktx.yaml'), config);
  const text = attacks.join(' ');
  const dataset = {
    dataset: 'orders',
    source: 'main.orders',
    primary_key: ['id'],
    description: text,
    fields: [
      { name: 'id', type: 'integer', description: text, values: attacks },
      { name: attacks[0], type: 'string', description: text },
      { name: 'amount', type: 'integer' },
      { name: 'packer', type: 'integer' },
    ],
    metrics: [{ name: 'revenue', agg: 'sum', of: 'amount', description: text, synonyms: attacks }],
  };
  writeFileSync(join(dir, 'semantic-layer/shop/orders.yaml'), JSON.stringify(dataset));
  const staff = { dataset: 'staff', primary_key: ['id'], fields: [{ name: 'id' }] };
  writeFileSync(join(dir, 'semantic-layer/shop/staff.yaml'), JSON.stringify(staff));
  writeFileSync(join(dir, 'claims/shop/orders.jsonl'), claims(text).join('\n'));
  writeFileSync(join(dir, 'conflicts.yaml'), JSON.stringify({ conflicts: conflicts(text) }));
  writeFileSync(join(dir, 'wiki/glossary.md'), `# ${text}\n\n## ${text}\n\n${text}\n`);
  execFileSync('git', ['init', '--quiet'], { cwd: dir });
  return dir;
}

function claims(text: string): readonly string[] {
  const evidence = {
    connection: 'pages',
    origin: 'code',
    extractor: `docs@1 ${text}`,
    item: `sources/pages/${text}`,
    location: text,
    quote: text,
    owner: text,
    confidence: 0.8,
  };
  const bodies = [
    ['metric:shop.orders.revenue', 'metric', { agg: 'sum', of: 'amount', where: text }],
    ['metric:shop.orders.revenue', 'description', text],
    [
      'relationship:shop.orders(packer)',
      'possible_relationship',
      { to: 'staff', on: { packer: 'id' } },
    ],
  ];
  return bodies.map(([subject, kind, body]) => JSON.stringify({ subject, kind, body, evidence }));
}

function conflicts(text: string): readonly object[] {
  const variants = [
    { id: '057915f99bd8', says: { agg: 'sum', of: 'amount', where: text }, evidence: attacks },
    { id: '474f97b7c3fe', says: text, evidence: [text] },
  ];
  return [
    { subject: 'metric:shop.orders.revenue', kind: 'metric', variants },
    { subject: `term:${text}`, kind: 'definition', variants },
  ];
}
