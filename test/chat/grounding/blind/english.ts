import { rowsOf, writer, type BlindAnswer } from './answer.ts';

const { n, p, s } = writer('en-US');
const M = [1e6, 'M'] as const;
const million = [1e6, ' million'] as const;
const k = [1e3, 'k'] as const;

const channels = rowsOf(
  'q1',
  'channel revenue orders',
  ['Online shop', 4821930.55, 61244],
  ['Marketplace', 2190441.1, 40377],
  ['Retail', 1377204.25, 9120],
  ['Wholesale', 988310.9, 402],
);
const total = 4821930.55 + 2190441.1 + 1377204.25 + 988310.9;
const months = rowsOf(
  'q1',
  'month net_revenue',
  ['2025-01-01', 412300.5],
  ['2025-02-01', 398110.25],
  ['2025-03-01', 455920],
  ['2025-04-01', 501870.75],
  ['2025-05-01', 488412.4],
  ['2025-06-01', 530077.1],
);
const churn = rowsOf(
  'q1',
  'plan customers churned churn_rate',
  ['Starter', 8210, 612, 0.0745],
  ['Team', 3044, 128, 0.042],
  ['Enterprise', 391, 5, 0.0128],
);
const single = rowsOf('q1', 'orders', [18734]);
const refunds = rowsOf('q2', 'refunds', [1291]);
const tickets = rowsOf(
  'q1',
  'agent tickets median_hours',
  ['Priya', 412, 3.4],
  ['Jonas', 388, 5.1],
  ['Mei', 371, 2.9],
  ['Omar', 290, 6.7],
  ['Lucía', 255, 4.2],
);
const years = rowsOf(
  'q1',
  'year signups',
  [2021, 10450],
  [2022, 13210],
  [2023, 15980],
  [2024, 14777],
);
const stock = rowsOf(
  'q1',
  'sku on_hand reorder_point unit_price',
  ['TB-100', 1240, 400, 12.5],
  ['TB-200', 87, 150, 29.9],
  ['KX-9', 3312, 900, 4.75],
);

const ask = (
  id: string,
  evidence: BlindAnswer['evidence'],
  ...[question, text]: [question: string, text: string]
): BlindAnswer => ({ id: `en-${id}`, question, evidence, text });

const byChannel = 'How much revenue did each channel make?';
const trend = 'How did net revenue develop in the first half of 2025?';
const churnQuestion = 'What is our churn by plan?';
const support = 'How is the support team doing?';

export const englishAnswers: readonly BlindAnswer[] = [
  ask(
    'channel-top',
    [channels],
    byChannel,
    `The **{m:Online shop~Retail}** is the largest channel with $${n(4821930.55, 2)} in revenue [q1].`,
  ),
  ask(
    'channel-table',
    [channels],
    byChannel,
    `Here is revenue by channel:\n\n| Channel | Revenue | Orders |\n|---|---:|---:|\n| Online shop | $${n(4821930.55, 2)} | ${n(61244)} |\n| Marketplace | $${n(2190441.1, 2)} | ${n(40377)} |\n| Retail | $${n(1377204.25, 2)} | ${n(9120)} |\n| Wholesale | $${n(988310.9, 2)} | ${n(402)} |\n\nSource: [q1]`,
  ),
  ask(
    'channel-list',
    [channels],
    byChannel,
    `- **Online shop**: $${s(4821930.55, M, 2)}\n- **Marketplace**: $${s(2190441.1, M, 2)}\n- **Retail**: $${s(1377204.25, M, 2)}\n- **Wholesale**: $${s(988310.9, M, 2)}\n\n[q1]`,
  ),
  ask(
    'channel-share',
    [channels],
    byChannel,
    `The online shop accounts for ${p(4821930.55 / total)} of revenue, the marketplace for another ${p(2190441.1 / total)} [q1].`,
  ),
  ask(
    'channel-total',
    [channels],
    byChannel,
    `Across all four channels we made $${s(total, million, 2)} [q1].`,
  ),
  ask(
    'channel-gap',
    [channels],
    byChannel,
    `Marketplace is $${n(2190441.1 - 1377204.25, 2)} {d:ahead of~behind} Retail [q1].`,
  ),
  ask(
    'channel-average',
    [channels],
    'Which channel has the highest order value?',
    `Wholesale orders average $${n(988310.9 / 402)} each, against $${n(4821930.55 / 61244, 2)} in the online shop [q1].`,
  ),
  ask(
    'channel-ratio',
    [channels],
    byChannel,
    `The online shop makes about ${n(4821930.55 / 2190441.1, 1)} times as much as the marketplace [q1].`,
  ),
  ask(
    'channel-ranked',
    [channels],
    'Rank the channels by orders.',
    `1. Online shop (${n(61244)} orders)\n2. Marketplace (${n(40377)})\n3. Retail (${n(9120)})\n4. Wholesale (${n(402)}) [q1]`,
  ),
  ask(
    'channel-rest',
    [channels],
    byChannel,
    `Online shop leads with $${s(4821930.55, M)}; the other three channels together made $${s(total - 4821930.55, M)} [q1].`,
  ),
  ask(
    'channel-smallest',
    [channels],
    'Which channel is the smallest?',
    `{m:Wholesale~Marketplace}, at $${n(988311)} from only ${n(402)} orders [q1].`,
  ),
  ask(
    'months-peak',
    [months],
    trend,
    `Net revenue peaked in {p:June~February} at ${n(530077.1, 2)} EUR [q1].`,
  ),
  ask(
    'months-low',
    [months],
    trend,
    `The weakest month was {p:February~May} with ${n(398110.25, 2)} EUR, the strongest June with ${n(530077.1, 2)} EUR [q1].`,
  ),
  ask(
    'months-growth',
    [months],
    trend,
    `From January to June net revenue {d:grew~fell} by ${p(530077.1 / 412300.5 - 1)}, from ${n(412300.5, 2)} to ${n(530077.1, 2)} EUR [q1].`,
  ),
  ask(
    'months-step',
    [months],
    trend,
    `In April it rose by ${n(501870.75 - 455920, 2)} EUR over March (${p(501870.75 / 455920 - 1)}) [q1].`,
  ),
  ask(
    'months-dip',
    [months],
    trend,
    `There was a small dip in May: revenue {d:fell~rose} ${p(1 - 488412.4 / 501870.75)} to ${s(488412.4, k)} EUR [q1].`,
  ),
  ask(
    'months-table',
    [months],
    trend,
    `| Month | Net revenue (EUR) | Change |\n|---|---|---|\n| Jan 2025 | ${n(412300.5, 2)} | – |\n| Feb 2025 | ${n(398110.25, 2)} | -${p(1 - 398110.25 / 412300.5)} |\n| Mar 2025 | ${n(455920, 2)} | +${p(455920 / 398110.25 - 1)} |`,
  ),
  ask(
    'months-total',
    [months],
    trend,
    `In the first half of 2025 net revenue was ${n(412300.5 + 398110.25 + 455920 + 501870.75 + 488412.4 + 530077.1, 2)} EUR in total [q1].`,
  ),
  ask(
    'months-average',
    [months],
    trend,
    `That is ${n((412300.5 + 398110.25 + 455920 + 501870.75 + 488412.4 + 530077.1) / 6)} EUR per month on average [q1].`,
  ),
  ask(
    'months-quarters',
    [months],
    trend,
    `Q2 brought in ${n(501870.75 + 488412.4 + 530077.1, 2)} EUR, compared with ${n(412300.5 + 398110.25 + 455920, 2)} EUR in Q1 [q1].`,
  ),
  ask('months-iso', [months], trend, `2025-03: ${n(455920)} EUR, 2025-04: ${n(501871)} EUR [q1].`),
  ask(
    'churn-highest',
    [churn],
    churnQuestion,
    `Churn is highest on {m:Starter~Enterprise}: ${n(612)} of ${n(8210)} customers left, a rate of ${p(0.0745, 2)} [q1].`,
  ),
  ask(
    'churn-list',
    [churn],
    churnQuestion,
    `* Starter: ${p(0.0745, 2, '%')}\n* Team: ${p(0.042, 1, '%')}\n* Enterprise: ${p(0.0128, 2, '%')} [q1]`,
  ),
  ask(
    'churn-overall',
    [churn],
    churnQuestion,
    `Overall ${n(612 + 128 + 5)} of ${n(8210 + 3044 + 391)} customers churned, ${p(745 / 11645, 2)} [q1].`,
  ),
  ask(
    'churn-points',
    [churn],
    churnQuestion,
    `Starter churn is ${n(7.45 - 4.2, 2)} percentage points {d:above~below} Team [q1].`,
  ),
  ask('churn-words', [churn], churnQuestion, `Only {five} Enterprise customers left [q1].`),
  ask('single', [single], 'How many orders did we have?', `We had **${n(18734)}** orders [q1].`),
  ask(
    'single-rounded',
    [single],
    'How many orders did we have?',
    `Roughly ${s(18734, k)} orders [q1].`,
  ),
  ask(
    'two-queries',
    [single, refunds],
    'How many orders were refunded?',
    `Of ${n(18734)} orders {c:[q1]~[q2]}, ${n(1291)} were refunded [q2], a refund rate of ${p(1291 / 18734)}.`,
  ),
  ask(
    'two-queries-rest',
    [single, refunds],
    'How many orders were not refunded?',
    `${n(18734 - 1291)} orders were not refunded: ${n(18734)} in all [q1] less ${n(1291)} refunds [q2].`,
  ),
  ask(
    'tickets-most',
    [tickets],
    support,
    `{m:Priya~Omar} closed the most tickets (${n(412)}), while {m:Mei~Jonas} was the fastest with a median of ${n(2.9, 1)} hours [q1].`,
  ),
  ask(
    'tickets-slowest',
    [tickets],
    support,
    `Omar takes the longest, ${n(6.7, 1)} hours at the median, more than twice as long as Mei (${n(2.9, 1)}) [q1].`,
  ),
  ask(
    'tickets-total',
    [tickets],
    support,
    `The five agents handled ${n(412 + 388 + 371 + 290 + 255)} tickets [q1].`,
  ),
  ask(
    'tickets-table',
    [tickets],
    support,
    `| Agent | Tickets | Median (h) |\n|:--|--:|--:|\n| Priya | ${n(412)} | ${n(3.4, 1)} |\n| Jonas | ${n(388)} | ${n(5.1, 1)} |\n| Mei | ${n(371)} | ${n(2.9, 1)} |\n| Omar | ${n(290)} | ${n(6.7, 1)} |\n| Lucía | ${n(255)} | ${n(4.2, 1)} |`,
  ),
  ask(
    'tickets-share',
    [tickets],
    support,
    `Priya alone closed ${p(412 / 1716)} of all tickets [q1].`,
  ),
  ask(
    'years-growth',
    [years],
    'How did signups develop?',
    `Signups {d:increased~decreased} from ${n(10450)} in 2021 to ${n(15980)} in 2023, then slipped to ${n(14777)} in 2024 [q1].`,
  ),
  ask(
    'years-fall',
    [years],
    'How did signups develop?',
    `In 2024 signups {d:fell~rose} by ${n(15980 - 14777)} (${p(1 - 14777 / 15980)}) [q1].`,
  ),
  ask(
    'years-best',
    [years],
    'Which was the best year?',
    `{p:2023~2022} was the best year with ${n(15980)} signups [q1].`,
  ),
  ask(
    'years-total',
    [years],
    'How many signups in all?',
    `Since 2021 we have had ${n(10450 + 13210 + 15980 + 14777)} signups altogether [q1].`,
  ),
  ask(
    'stock-low',
    [stock],
    'What should we reorder?',
    `Only TB-200 is below its reorder point: ${n(87)} on hand against ${n(150)} [q1].`,
  ),
  ask(
    'stock-value',
    [stock],
    'What is our stock worth?',
    `TB-100 is worth $${n(1240 * 12.5)} (${n(1240)} × $${n(12.5, 2)}) [q1].`,
  ),
  ask(
    'stock-list',
    [stock],
    'What do we have on hand?',
    `**TB-100** – ${n(1240)} units\n**TB-200** – ${n(87)} units\n**KX-9** – ${n(3312)} units [q1]`,
  ),
  ask(
    'summary-headings',
    [channels],
    byChannel,
    `## Summary\n\nRevenue came to $${s(total, M, 2)}.\n\n## Details\n\n- Best: Online shop ($${s(4821930.55, M, 2)})\n- Weakest: Wholesale ($${n(988310.9, 2)})\n\n[q1]`,
  ),
  ask(
    'top-two',
    [channels],
    'The top 2 channels?',
    `The top 2 channels, Online shop and Marketplace, bring in $${n(4821930.55 + 2190441.1, 2)} together, ${p((4821930.55 + 2190441.1) / total)} of the total [q1].`,
  ),
];
