import { dayAfter } from '../../../conformance/seeded.ts';
import { rowsOf, writer } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from './kit.ts';

const { n, p: percent, s } = writer('en-GB');
const p = (fraction: number, digits = 1) => percent(fraction, digits, '%');
const million = [1e6, 'm'] as const;

export const product: readonly Telling[] = [
  told('dau-peak', 'When did daily active users peak?', (dice) => {
    const start = dayAfter('2025-02-01', dice.between(0, 9));
    const days = [0, 1, 2, 3, 4, 5, 6].map((shift) => [
      dayAfter(start, shift),
      dice.between(18_000, 52_000),
    ]) as readonly (readonly [string, number])[];
    const peak = at(
      [...days].sort((left, right) => right[1] - left[1]),
      0,
    );
    const day = Number(peak[0].slice(8));
    return [
      [rowsOf('q1', 'day dau', ...days)],
      `DAU peaked on {p:${day} February 2025~${day + 1} March 2025} at ${n(peak[1])} users [q1]. The
      average over the 7 days was ${n(sum(days) / 7)}, so the peak was
      ${p(growth(sum(days) / 7, peak[1]))} above it.`,
    ];
  }),
  told('error-rate', 'Did the release on 3 March make errors worse?', (dice) => {
    const [e1, r1, e2, r2] = [
      dice.between(210, 900),
      dice.between(90_000, 140_000),
      dice.between(210, 900),
      dice.between(90_000, 140_000),
    ];
    return [
      [rowsOf('q1', 'phase errors requests', ['before', e1, r1], ['after', e2, r2])],
      `The error rate ${way(e1 / r1, e2 / r2, ['increased', 'decreased'])} from ${p(e1 / r1, 2)}
      (${n(e1)} of ${n(r1)} requests) before the release on 3 March to ${p(e2 / r2, 2)} (${n(e2)} of
      ${n(r2)}) after it [q1]. I compared one week on each side.`,
    ];
  }),
  told('latency', 'Is version 2.4.1 slower than 2.3?', (dice) => {
    const [old, now] = [dice.between(140, 420), dice.between(140, 420)];
    return [
      [rowsOf('q1', 'version p95_ms', ['2.3.0', old], ['2.4.1', now])],
      `p95 latency is ${n(now)} ms on 2.4.1 against ${n(old)} ms on 2.3.0, i.e.
      ${way(old, now, ['slower', 'faster'])} by ${n(Math.abs(now - old))} ms or
      ${p(Math.abs(growth(old, now)), 0)} [q1].`,
    ];
  }),
  told('retention', 'What is week-4 retention by cohort?', (dice) => {
    const rows = ['2025-01', '2025-02', '2025-03'].map((cohort) => {
      const size = dice.between(900, 5200);
      return [cohort, size, Math.round(size * (0.15 + dice.next() / 4))] as const;
    });
    const rate = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    return [
      [rowsOf('q1', 'cohort users retained_week_4', ...rows)],
      `Week-4 retention:

      - {p:January~April} cohort: ${p(rate(0))} (${n(at(rows, 0)[2])} of ${n(at(rows, 0)[1])})
      - February cohort: ${p(rate(1))} (${n(at(rows, 1)[2])} of ${n(at(rows, 1)[1])})
      - March cohort: ${p(rate(2))} (${n(at(rows, 2)[2])} of ${n(at(rows, 2)[1])})

      Over all three cohorts, ${n(at(rows, 0)[2] + at(rows, 1)[2] + at(rows, 2)[2])} of
      ${n(at(rows, 0)[1] + at(rows, 1)[1] + at(rows, 2)[1])} users came back in week 4 [q1].`,
    ];
  }),
  told('ab-test', 'Who won the checkout test?', (dice) => {
    const [na, nb] = [dice.between(11_000, 19_000), dice.between(11_000, 19_000)];
    const [ca, cb] = [dice.between(400, 640), dice.between(700, 990)];
    const [ra, rb] = [ca / na, cb / nb];
    const [winner, loser] = rb > ra ? ['B', 'A'] : ['A', 'B'];
    return [
      [rowsOf('q1', 'variant users conversions', ['A', na, ca], ['B', nb, cb])],
      `Variant {m:${winner}~${loser}} won. A converted ${p(ra, 2)} (${n(ca)}/${n(na)}), B
      ${p(rb, 2)} (${n(cb)}/${n(nb)}) [q1]. The relative difference of B to A is
      ${p(growth(ra, rb))}. I did not test for significance.`,
    ];
  }),
  told('null-emails', 'How complete is the customer table?', (dice) => {
    const all = dice.between(48_000, 99_000);
    const [mail, phone] = [dice.between(300, 4000), dice.between(9000, 31_000)];
    return [
      [rowsOf('q1', 'customers missing_email missing_phone', [all, mail, phone])],
      `Of ${n(all)} customers, ${n(mail)} have no email (${p(mail / all)}) and ${n(phone)} have no
      phone number (${p(phone / all)}). Put differently, ${p(1 - mail / all)} can be reached by email
      [q1]. Two columns were checked; addresses were not.`,
    ];
  }),
  told('threshold', 'How many orders above $500 did we have?', (dice) => {
    const [count, all] = [dice.between(800, 4100), dice.between(22_000, 60_000)];
    return [
      [rowsOf('q1', 'orders_over_500 all_orders', [count, all])],
      `${n(count)} orders were above $500. That is ${p(count / all)} of all ${n(all)} orders, or about
      1 in {${Math.round(all / count)}} [q1].`,
    ];
  }),
  told('uptime', 'What was our uptime in June?', (dice) => {
    const down = dice.between(12, 240);
    const minutes = 30 * 24 * 60;
    return [
      [rowsOf('q1', 'minutes_down minutes_total incidents', [down, minutes, 3])],
      `Uptime in {p:June~August} was ${p(1 - down / minutes, 2)}: ${n(down)} minutes of downtime out of
      ${n(minutes)}, spread over 3 incidents (${n(down / 3)} minutes each on average) [q1].`,
    ];
  }),
  told('double', 'Has usage of the API grown?', (dice) => {
    const before = dice.between(1_100_000, 1_900_000);
    const now = Math.round(before * (2.02 + dice.next() / 8));
    return [
      [rowsOf('q1', 'year calls', [2023, before], [2024, now])],
      `Yes, it more than doubled: from ${s(before, million)} calls in 2023 to ${s(now, million)} in
      2024 (${n(now / before, 2)} times as many, ${p(growth(before, now), 0)} growth) [q1].`,
    ];
  }),
  told('third', 'How much of our storage do logs use?', (dice) => {
    const total = dice.between(800, 1900);
    const logs = Math.round(total * (0.328 + dice.next() / 100));
    return [
      [rowsOf('q1', 'kind terabytes', ['logs', logs], ['other', total - logs])],
      `Logs take about a third of storage: ${n(logs)} TB of ${n(total)} TB (${p(logs / total)}) [q1].
      Everything else takes the remaining ${n(total - logs)} TB, or two thirds.`,
    ];
  }),
  told('time-between', 'How long is it from first order to second?', (dice) => {
    const [first, gap] = [dayAfter('2024-03-04', dice.between(0, 20)), dice.between(15, 60)];
    const second = dayAfter(first, gap);
    return [
      [rowsOf('q1', 'customer first_order second_order', ['C-1182', first, second])],
      `Customer C-1182 ordered first on ${first} and again on ${second}, i.e. {${gap}} days later, or
      roughly ${n(gap / 7, 1)} weeks [q1].`,
    ];
  }),
  told('empty', 'How many orders came from Iceland?', () => [
    [rowsOf('q1', 'country orders')],
    `None: the query returned no rows for {m:Iceland~Norway}, so there are {0} orders from there in the
    data [q1]. The table starts with 2022, so earlier orders may exist elsewhere.`,
  ]),
  told('limit', 'List our customers with the highest balance.', (dice) => {
    const rows = ranked(dice, 'Arden plc|Bexley Ltd|Corvid SA', [31_000, 880_000]);
    return [
      [rowsOf('q1', 'customer balance', ...rows)],
      `The 3 highest balances (I limited the list to 3; ask for more if you like):

      | # | Customer | Balance |
      |---|---|---|
      | 1 | {m:Arden plc~Corvid SA} | £${n(at(rows, 0)[1])} |
      | 2 | Bexley Ltd | £${n(at(rows, 1)[1])} |
      | 3 | Corvid SA | £${n(at(rows, 2)[1])} |

      The first alone owes ${n(at(rows, 0)[1] / at(rows, 2)[1], 1)} times what the third owes [q1].`,
    ];
  }),
  told('min-max', 'What range do our delivery times have?', (dice) => {
    const [low, high, mean] = [dice.between(1, 3), dice.between(18, 44), dice.between(41, 99) / 10];
    return [
      [rowsOf('q1', 'min_days max_days avg_days', [low, high, mean + 0.0371])],
      `Delivery takes between {${low}} and {${high}} days; the mean is ${n(mean + 0.0371, 1)} days
      [q1]. Anything above 14 days counts as lost under your own policy, which I did not apply.`,
    ];
  }),
  told('weekday', 'Which weekday is busiest?', (dice) => {
    const rows = walk(dice, 'Monday|Tuesday|Wednesday|Thursday|Friday', 5200);
    const sorted = [...rows].sort((left, right) => right[1] - left[1]);
    const [busiest, quietest] = [at(sorted, 0), at(sorted, -1)];
    return [
      [rowsOf('q1', 'weekday calls', ...rows)],
      `{m:${busiest[0]}~${quietest[0]}} is busiest with ${n(busiest[1])} calls;
      ${quietest[0]} is quietest with ${n(quietest[1])}, ${p(-growth(busiest[1], quietest[1]), 0)}
      fewer. All five weekdays together saw ${n(sum(rows))} calls [q1]. Weekends are closed.`,
    ];
  }),
  told('caveat-partial', 'How is this month going?', (dice) => {
    const [now, last] = [dice.between(210_000, 480_000), dice.between(510_000, 760_000)];
    return [
      [
        rowsOf(
          'q1',
          'month revenue last_day',
          ['2025-07', now, '2025-07-18'],
          ['2025-06', last, '2025-06-30'],
        ),
      ],
      `So far £${n(now)}, with data up to 18 July. June ended at £${n(last)}, so July stands at
      ${p(now / last)} of it after 18 of 31 days (${p(18 / 31, 0)} of the month). At this pace July
      would end at about £${n((now / 18) * 31)} [q1].`,
    ];
  }),
];
