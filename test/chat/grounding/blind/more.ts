import { rowsOf, writer, type BlindAnswer } from './answer.ts';

const { n, p, s } = writer('en-GB');
const de = writer('de-DE');
const fr = writer('fr-FR');

const days = rowsOf(
  'q1',
  'day sessions',
  ['2025-09-01', 8123],
  ['2025-09-02', 9044],
  ['2025-09-03', 7760],
  ['2025-09-04', 9985],
);
const compare = rowsOf(
  'q1',
  'region revenue_2023 revenue_2024',
  ['North', 612000, 688500],
  ['South', 540250, 498710],
  ['West', 233400, 301220],
);
const products = rowsOf(
  'q1',
  'product units rating',
  ['Kettle', 15320, 4.6],
  ['Toaster', 12877, 4.2],
  ['Blender', 9641, 3.9],
  ['Mixer', 4410, 4.8],
);
const funnel = rowsOf(
  'q1',
  'step users',
  ['visit', 120480],
  ['cart', 18222],
  ['checkout', 9310],
  ['paid', 7044],
);
const payroll = rowsOf(
  'q1',
  'team headcount monthly_cost',
  ['Data', 12, 96400],
  ['Web', 21, 151200],
  ['Ops', 9, 58950],
);

const ask = (
  id: string,
  evidence: BlindAnswer['evidence'],
  ...[question, text]: [question: string, text: string]
): BlindAnswer => ({ id: `more-${id}`, question, evidence, text });

const byDay = 'Sessions by day in early September?';
const versus = 'How does 2024 compare with 2023?';
const steps = 'Where do we lose people in the funnel?';

export const moreAnswers: readonly BlindAnswer[] = [
  ask(
    'day-peak',
    [days],
    byDay,
    `The busiest day was {p:4 September~2 September} 2025, with ${n(9985)} sessions [q1].`,
  ),
  ask(
    'day-american',
    [days],
    byDay,
    `On September 2, 2025 there were ${n(9044)} sessions; on September 3 only ${n(7760)} [q1].`,
  ),
  ask(
    'day-german',
    [days],
    'Sitzungen pro Tag?',
    `Am 4. September waren es ${de.n(9985)} Sitzungen, am 1. September ${de.n(8123)} [q1].`,
  ),
  ask(
    'day-dotted',
    [days],
    'Sitzungen pro Tag?',
    `02.09.2025: ${de.n(9044)}\n03.09.2025: ${de.n(7760)}\n04.09.2025: ${de.n(9985)} [q1]`,
  ),
  ask(
    'day-total',
    [days],
    byDay,
    `Over the four days we counted ${n(8123 + 9044 + 7760 + 9985)} sessions [q1].`,
  ),
  ask(
    'day-mean',
    [days],
    byDay,
    `That is an average of ${n((8123 + 9044 + 7760 + 9985) / 4)} sessions a day [q1].`,
  ),
  ask(
    'versus-growth',
    [compare],
    versus,
    `North {d:grew~shrank} ${p(688500 / 612000 - 1, 1, '%')} to £${n(688500)}; South {d:fell~rose} ${p(1 - 498710 / 540250, 1, '%')} to £${n(498710)} [q1].`,
  ),
  ask(
    'versus-table',
    [compare],
    versus,
    `| Region | 2023 | 2024 | Change |\n|---|---|---|---|\n| North | £${n(612000)} | £${n(688500)} | +${p(688500 / 612000 - 1, 1, '%')} |\n| South | £${n(540250)} | £${n(498710)} | -${p(1 - 498710 / 540250, 1, '%')} |\n| West | £${n(233400)} | £${n(301220)} | +${p(301220 / 233400 - 1, 1, '%')} |`,
  ),
  ask(
    'versus-total',
    [compare],
    versus,
    `In total revenue went from £${n(612000 + 540250 + 233400)} in 2023 to £${n(688500 + 498710 + 301220)} in 2024 [q1].`,
  ),
  ask(
    'versus-total-growth',
    [compare],
    versus,
    `Overall that is growth of ${p((688500 + 498710 + 301220) / (612000 + 540250 + 233400) - 1)} [q1].`,
  ),
  ask(
    'versus-most',
    [compare],
    versus,
    `{m:West~South} grew the most, by £${n(301220 - 233400)} [q1].`,
  ),
  ask(
    'versus-k',
    [compare],
    versus,
    `North: £${s(612000, [1e3, 'k'], 0)} → £${s(688500, [1e3, 'k'], 1)} [q1]`,
  ),
  ask(
    'versus-german',
    [compare],
    'Vergleich mit dem Vorjahr?',
    `West {d:wuchs~schrumpfte} um ${de.p(301220 / 233400 - 1)} auf ${de.n(301220)} £, Süd (South) verlor ${de.n(540250 - 498710)} £ [q1].`,
  ),
  ask(
    'versus-french',
    [compare],
    'Par rapport à 2023 ?',
    `West {d:progresse~recule} de ${fr.p(301220 / 233400 - 1)} à ${fr.n(301220)} £ [q1].`,
  ),
  ask(
    'product-ranks',
    [products],
    'Best sellers?',
    `1. **Kettle**: ${n(15320)} units, ${n(4.6, 1)} stars\n2. **Toaster**: ${n(12877)} units, ${n(4.2, 1)} stars\n3. **Blender**: ${n(9641)} units, ${n(3.9, 1)} stars [q1]`,
  ),
  ask(
    'product-best-rated',
    [products],
    'Which product is rated best?',
    `The {m:Mixer~Blender} has the best rating (${n(4.8, 1)}), though it sold only ${n(4410)} units [q1].`,
  ),
  ask(
    'product-share',
    [products],
    'Best sellers?',
    `Kettles make up ${p(15320 / (15320 + 12877 + 9641 + 4410), 1, '%')} of the ${n(15320 + 12877 + 9641 + 4410)} units sold [q1].`,
  ),
  ask(
    'product-gap',
    [products],
    'Best sellers?',
    `The Kettle outsold the Toaster by ${n(15320 - 12877)} units [q1].`,
  ),
  ask(
    'product-above',
    [products],
    'Which products sold more than 10,000 units?',
    `Two products sold more than {10,000} units: Kettle (${n(15320)}) and Toaster (${n(12877)}) [q1].`,
  ),
  ask(
    'funnel-conversion',
    [funnel],
    steps,
    `Of ${n(120480)} visits, ${n(7044)} ended in a payment, a conversion of ${p(7044 / 120480, 2, '%')} [q1].`,
  ),
  ask(
    'funnel-steps',
    [funnel],
    steps,
    `- visit → cart: ${p(18222 / 120480, 1, '%')}\n- cart → checkout: ${p(9310 / 18222, 1, '%')}\n- checkout → paid: ${p(7044 / 9310, 1, '%')} [q1]`,
  ),
  ask(
    'funnel-loss',
    [funnel],
    steps,
    `The largest drop is between visit and cart: ${n(120480 - 18222)} people leave there [q1].`,
  ),
  ask(
    'funnel-k',
    [funnel],
    steps,
    `About ${s(120480, [1e3, 'k'], 0)} visits lead to ${s(9310, [1e3, 'k'])} checkouts [q1].`,
  ),
  ask(
    'payroll-per-head',
    [payroll],
    'Cost per head?',
    `Web costs £${n(151200 / 21)} a head per month, Data £${n(96400 / 12, 2)} [q1].`,
  ),
  ask(
    'payroll-total',
    [payroll],
    'What do the teams cost?',
    `All teams together cost £${n(96400 + 151200 + 58950)} a month for ${n(42)} people [q1].`,
  ),
  ask(
    'payroll-share',
    [payroll],
    'What do the teams cost?',
    `Web takes ${p(151200 / 306550, 0, '%')} of the monthly cost [q1].`,
  ),
  ask(
    'payroll-largest',
    [payroll],
    'Which team is the largest?',
    `{m:Web~Ops} is the largest team with ${n(21)} people; Ops is the smallest with {nine} [q1].`,
  ),
  ask(
    'payroll-words',
    [payroll],
    'How many people are in Data?',
    `There are {twelve} people in Data, costing £${n(96400)} a month [q1].`,
  ),
];
