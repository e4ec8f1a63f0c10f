import { expect, test } from 'vitest';
import { groundAnswer } from '../../../../src/chat/grounding/ground-answer.ts';
import { rowsOf } from '../blind/answer.ts';
import { expectTwin } from './twin.ts';

const carriers = rowsOf('q1', 'carrier parcels cost', ['GLS', 3339, 15_272], ['UPS', 5479, 35_691]);
const versions = rowsOf(
  'q1',
  'app_version sessions crashes',
  ['2.3.1', 47_906, 1111],
  ['2.4.0', 60_864, 892],
);
const categories = rowsOf(
  'q1',
  'category sales_2025 sales_2024',
  ['Outdoor', 3_410_000, 2_890_000],
  ['Kitchen', 2_760_000, 2_810_000],
  ['Books', 420_000, 510_000],
);
const campaigns = rowsOf(
  'q1',
  'campaign spend revenue',
  ['Search', 12_493, 71_416],
  ['Display', 19_077, 16_094],
  ['Influencer', 25_314, 21_464],
  ['Newsletter', 6250, 19_970],
);
const quarters = rowsOf(
  'q1',
  'trimestre clientes bajas',
  ['2025-T1', 17_994, 896],
  ['2025-T2', 18_963, 805],
);
const reasons = rowsOf('q1', 'reason n', ['size', 849], ['broken', 311], ['looks', 522]);

const perParcel = 'GLS costs €4.57 (15,272 / 3,339) and UPS €6.51 (35,691 / 5,479) per parcel.';
const crashes =
  'Version 2.4.0 crashed in 1.47% of sessions (892 of 60,864), version 2.3.1 in 2.32% (1,111 of 47,906).';
const losing = 'Display and Influencer cost $44,391.';

test.for([
  [
    'a difference of ratios',
    carriers,
    `${perParcel} UPS is €1.94 dearer than GLS.`,
    '€1.94',
    '€1.34',
  ],
  ['a change of ratios', versions, `${crashes} That is a reduction of 37%.`, '37%', '73%'],
  [
    'rows at the ratio of another',
    carriers,
    `${perParcel} At the price of GLS, UPS would have saved €10,631.`,
    '€10,631',
    '€10,831',
  ],
  [
    'all rows but one',
    categories,
    'Sales grew. If we leave Books out, the others grew by 8.2%.',
    '8.2%',
    '9.7%',
  ],
  ['what was added up before', campaigns, `${losing}\n\nThey take up 70% of spend.`, '70%', '81%'],
  [
    'with an assumption',
    carriers,
    'If the cost of UPS rose by 15%, it would be €41,045.',
    '€41,045',
    '€41,945',
  ],
] as const)('%s', ([, evidence, text, right, wrong]) => {
  expectTwin({ evidence, text, right, wrong });
});

const twoQuarters = (first: string, second: string) =>
  `Pasó del 4,98 % en el primer trimestre de 2025 (896 bajas sobre ${first} clientes) al 4,25 % en el segundo (805 sobre ${second}).`;

test('a second number of a column is of the row that is not named', () => {
  const text = twoQuarters('17.994', '18.963');
  expectTwin({ evidence: quarters, text, right: '18.963', wrong: '18.663' });
  expectTwin({ evidence: quarters, text, right: '805', wrong: '835' });
});

test('the first number of a column is of the row that is named', () => {
  const marked = groundAnswer({
    text: twoQuarters('18.963', '17.994'),
    question: '',
    evidence: [quarters],
  }).filter(({ status }) => status === 'ungrounded');
  expect(marked.map((claim) => claim.text.trim())).toContain('18.963');
});

test('as many rows as the number beside it rests on', () => {
  const text = '上位2つの理由で全体の82%を占めます。';
  expectTwin({ evidence: reasons, text: `サイズは849件です。${text}`, right: '82%', wrong: '71%' });
});
