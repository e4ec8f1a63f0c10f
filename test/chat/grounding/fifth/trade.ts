import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech } from '../third/kit.ts';

const { n, p, s, sp } = speech('en-GB', '');
const m = [1e6, 'm'] as const;
const million = [1e6, ' million'] as const;
const thousand = [1e3, ' thousand'] as const;

export const trade: readonly Telling[] = [
  told('5-basket', 'What is the average basket online and in shops?', (dice) => {
    const rows = ['online', 'shop'].map((name) => {
      const orders = dice.between(3000, 9000);
      return [name, orders, orders * dice.between(22, 90) + dice.between(1, 999)] as const;
    });
    const value = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    return [
      [rowsOf('q1', 'channel orders revenue', ...rows)],
      `Online the average basket is £${n(value(0), 2)} (${n(at(rows, 0)[1])} orders, £${n(at(rows, 0)[2])}), in shops
      £${n(value(1), 2)} (${n(at(rows, 1)[1])} orders, £${n(at(rows, 1)[2])}). The difference is
      £${n(Math.abs(value(0) - value(1)), 2)} per order [q1].`,
    ];
  }),
  told('5-top-share', 'How much do the top 2 brands contribute?', (dice) => {
    const rows = ranked(dice, 'Velo|Monte|Arco|Fjord|Piuma', [9000, 90_000]);
    const top = at(rows, 0)[1] + at(rows, 1)[1];
    return [
      [rowsOf('q1', 'brand units', ...rows)],
      `The top 2 brands, Velo and Monte, sold ${n(top)} of ${n(sum(rows))} units (${p(top / sum(rows))}). The
      remaining three brands share ${n(sum(rows) - top)} units (${p(1 - top / sum(rows))}) [q1].`,
    ];
  }),
  told('5-discount-depth', 'How deep were discounts in the summer sale?', (dice) => {
    const [list, paid] = [dice.between(400_000, 900_000), dice.between(200_000, 390_000)];
    return [
      [rowsOf('q1', 'list_value paid_value', [list, paid])],
      `Goods with a list value of £${n(list)} were sold for £${n(paid)}. That is a discount of £${n(list - paid)},
      or ${p(1 - paid / list)} off; customers paid ${p(paid / list)} of the list price [q1].`,
    ];
  }),
  told('5-stock-value', 'What is the stock worth?', (dice) => {
    const rows = ['Lamp', 'Chair', 'Rug'].map(
      (name) => [name, dice.between(110, 900), dice.between(15, 220)] as const,
    );
    const value = (index: number) => at(rows, index)[1] * at(rows, index)[2];
    const total = value(0) + value(1) + value(2);
    return [
      [rowsOf('q1', 'article pieces unit_cost', ...rows)],
      `- Lamp: ${n(at(rows, 0)[1])} pieces × £${n(at(rows, 0)[2])} = £${n(value(0))}
      - Chair: ${n(at(rows, 1)[1])} pieces × £${n(at(rows, 1)[2])} = £${n(value(1))}
      - Rug: ${n(at(rows, 2)[1])} pieces × £${n(at(rows, 2)[2])} = £${n(value(2))}

      In total the stock is worth £${n(total)} [q1].`,
    ];
  }),
  told('5-conversion-chain', 'How do visits turn into orders?', (dice) => {
    const visits = dice.between(90_000, 400_000);
    const carts = part(visits, 0.1 + dice.next() / 10);
    const orders = part(carts, 0.3 + dice.next() / 5);
    return [
      [rowsOf('q1', 'visits carts orders', [visits, carts, orders])],
      `Of ${n(visits)} visits, ${n(carts)} put something into the cart (${p(carts / visits)}), and ${n(orders)} of
      these ordered (${p(orders / carts)}). Overall conversion is ${p(orders / visits, 2)}; that's one order for
      every ${n(visits / orders)} visits [q1].`,
    ];
  }),
  told('5-yoy-months', 'How does Q2 2025 compare with Q2 2024?', (dice) => {
    const rows = ['April', 'May', 'June'].map(
      (name) => [name, dice.between(20_000, 90_000), dice.between(20_000, 90_000)] as const,
    );
    const [a, b] = [column(rows, 1), column(rows, 2)];
    const lines = rows.map(
      ([name, last, now]) => `* ${name}: ${n(now)} vs. ${n(last)} (${sp(growth(last, now))})`,
    );
    return [
      [rowsOf('q1', 'month orders_2024 orders_2025', ...rows)],
      `Q2 2025 had ${n(b)} orders, Q2 2024 ${n(a)}: ${sp(growth(a, b))} [q1].

      ${lines.join('\n')}`,
    ];
  }),
  told('5-refund-rate', 'Are refunds getting worse?', (dice) => {
    const rows = ['2025-03', '2025-04', '2025-05'].map((month) => {
      const orders = dice.between(4000, 9000);
      return [month, orders, part(orders, 0.02 + dice.next() / 30)] as const;
    });
    const rate = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    return [
      [rowsOf('q1', 'month orders refunds', ...rows)],
      `The refund rate was ${p(rate(0))} in March, ${p(rate(1))} in April and ${p(rate(2))} in May 2025. From April
      to May it ${way(rate(1), rate(2), ['rose', 'fell'])} by ${n(Math.abs(rate(2) - rate(1)) * 100, 1)} points. Over the three
      months, ${n(column(rows, 2))} of ${n(column(rows, 1))} orders were refunded [q1].`,
    ];
  }),
  told('5-weekend', 'Do we sell more at weekends?', (dice) => {
    const days = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun'.split('|');
    const rows = days.map((day) => [day, dice.between(1000, 9000)] as const);
    const end = at(rows, 5)[1] + at(rows, 6)[1];
    const total = column(rows, 1);
    return [
      [rowsOf('q1', 'weekday sales', ...rows)],
      `Saturday and Sunday together sold £${n(end)}, Monday to Friday £${n(total - end)}. The weekend is
      ${p(end / total, 0)} of the week's £${n(total)}. Per day that's £${n(end / 2)} at weekends and
      £${n((total - end) / 5)} on working days [q1].`,
    ];
  }),
  told('5-price-rise', 'What did the price change of the annual plan do?', (dice) => {
    const [a, b] = [dice.between(900, 2900), dice.between(900, 2900)];
    return [
      [rowsOf('q1', 'price signups', [79, a], [99, b])],
      `At £79 we had ${n(a)} signups (£${n(a * 79)}), at £99 ${n(b)} (£${n(b * 99)}). The price went up by £20
      (25.3%), signups ${way(a, b, ['rose', 'fell'])} by ${p(Math.abs(growth(a, b)))} and revenue
      ${way(a * 79, b * 99, ['rose', 'fell'])} by ${p(Math.abs(growth(a * 79, b * 99)))} [q1].`,
    ];
  }),
  told('5-cities', 'Where do our customers live?', (dice) => {
    const rows = ranked(dice, 'London|Manchester|Glasgow', [3000, 60_000]);
    const all = sum(rows) + dice.between(10_000, 90_000);
    return [
      [rowsOf('q1', 'city customers', ...rows), rowsOf('q2', 'all_customers', [all])],
      `Most live in London (${n(at(rows, 0)[1])}, ${p(at(rows, 0)[1] / all)} of all ${n(all)} customers), then
      Manchester (${n(at(rows, 1)[1])}, ${p(at(rows, 1)[1] / all)}) and Glasgow (${n(at(rows, 2)[1])},
      ${p(at(rows, 2)[1] / all)}) [q1, q2]. ${n(all - sum(rows))} live elsewhere.`,
    ];
  }),
  told('5-rating', 'How are the new products rated?', (dice) => {
    const rows = ['Kettle K2', 'Toaster T9'].map(
      (name) => [name, dice.between(31, 49) / 10, dice.between(120, 900)] as const,
    );
    const mean =
      (at(rows, 0)[1] * at(rows, 0)[2] + at(rows, 1)[1] * at(rows, 1)[2]) / column(rows, 2);
    return [
      [rowsOf('q1', 'product avg_stars reviews', ...rows)],
      `Kettle K2 has ${n(at(rows, 0)[1], 1)} of 5 stars (${n(at(rows, 0)[2])} reviews), Toaster T9
      ${n(at(rows, 1)[1], 1)} (${n(at(rows, 1)[2])}). Weighted by reviews that is ${n(mean, 2)} [q1].`,
    ];
  }),
  told('5-delivery-range', 'How long does delivery take?', (dice) => {
    const rows = ['Standard', 'Express'].map((name, index) => {
      const low = dice.between(2, 5) - index;
      return [name, low, low + dice.between(2, 4), dice.between(1000, 8000)] as const;
    });
    return [
      [rowsOf('q1', 'service min_days max_days parcels', ...rows)],
      `Standard parcels take ${n(at(rows, 0)[1])}–${n(at(rows, 0)[2])} days and express parcels
      ${n(at(rows, 1)[1])}–${n(at(rows, 1)[2])} days. ${p(at(rows, 1)[3] / column(rows, 3), 0)} of the
      ${n(column(rows, 3))} parcels went by express [q1].`,
    ];
  }),
  told(
    '5-since-launch',
    'How is the loyalty card doing since its launch on 3 March 2025?',
    (dice) => {
      const rows = walk(dice, '2025-03|2025-04|2025-05|2025-06', 2000);
      return [
        [rowsOf('q1', 'month new_cards', ...rows)],
        `Since the launch on 3 March 2025, ${n(sum(rows))} cards were issued until the end of June: ${rows
          .map(([, value]) => n(value))
          .join(
            ', ',
          )} in the four months. That's ${n(sum(rows) / 4)} a month on average; June was ${sp(growth(at(rows, 2)[1], at(rows, 3)[1]))} on
      May [q1].`,
      ];
    },
  ),
  told('5-margin-table', 'Show sales, cost and margin by category.', (dice) => {
    const rows = ['Garden', 'Kitchen', 'Bath'].map((name) => {
      const sales = dice.between(200_000, 2_000_000);
      return [name, sales, part(sales, 0.5 + dice.next() / 4)] as const;
    });
    const lines = rows.map(
      ([name, sales, cost]) =>
        `| ${name} | ${s(sales, m, 2)} | ${s(cost, m, 2)} | ${s(sales - cost, m, 2)} | ${p(1 - cost / sales)} |`,
    );
    const [a, b] = [column(rows, 1), column(rows, 2)];
    return [
      [rowsOf('q1', 'category sales cost', ...rows)],
      `| Category | Sales (£) | Cost (£) | Margin (£) | Margin % |
      |---|---|---|---|---|
      ${lines.join('\n')}
      | All | ${s(a, m, 2)} | ${s(b, m, 2)} | ${s(a - b, m, 2)} | ${p(1 - b / a)} |

      [q1]`,
    ];
  }),
  told('5-new-old', 'How many orders come from new customers?', (dice) => {
    const [fresh, old] = [dice.between(2100, 4900), dice.between(5100, 9900)];
    return [
      [rowsOf('q1', 'customer_type orders', ['new', fresh], ['returning', old])],
      `${n(fresh)} orders (${p(fresh / (fresh + old), 0)}) come from new customers and ${n(old)}
      (${p(old / (fresh + old), 0)}) from returning ones; that is ${n(old / fresh, 1)} returning orders for each new
      one [q1].`,
    ];
  }),
  told('5-best-day', 'What was our best day in June?', (dice) => {
    const best = dice.between(40_000, 90_000);
    const mean = dice.between(14_000, 30_000);
    return [
      [rowsOf('q1', 'day sales', ['2025-06-21', best]), rowsOf('q2', 'avg_daily_sales', [mean])],
      `{p:Saturday, 21 June 2025~Saturday, 14 June 2025}, with £${n(best)} [q1]. An average day in June brought
      £${n(mean)} [q2], so the best day had ${n(best / mean, 1)} times that, £${n(best - mean)} more.`,
    ];
  }),
  told('5-basis', 'What is our gross merchandise value in millions?', (dice) => {
    const rows = walk(dice, '2023|2024', 41_000_000);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', 'year gmv', ...rows)],
      `GMV was £${s(b, million)} in 2024 after £${s(a, million)} in 2023, a
      ${way(a, b, ['rise', 'drop'])} of £${s(Math.abs(b - a), million)} (${p(Math.abs(growth(a, b)), 0)}) [q1].`,
    ];
  }),
  told('5-thousands', 'How many newsletters did we send, and how many bounced?', (dice) => {
    const sent = dice.between(210_000, 890_000);
    const bounced = part(sent, 0.004 + dice.next() / 90);
    return [
      [rowsOf('q1', 'sent bounced', [sent, bounced])],
      `We sent about ${s(sent, thousand, 0)} newsletters. ${n(bounced)} of them bounced, fewer than
      ${Math.ceil((bounced / sent) * 100)}% (${p(bounced / sent, 2)}) [q1].`,
    ];
  }),
  told('5-suppliers', 'Which supplier delivers late most often?', (dice) => {
    const rows = ['Okafor', 'Lindt & Co', 'Weber'].map((name) => {
      const all = dice.between(80, 300);
      return [name, all, part(all, 0.05 + dice.next() / 4)] as const;
    });
    const rate = (row: (typeof rows)[number]) => row[2] / row[1];
    const sorted = [...rows].sort((left, right) => rate(right) - rate(left));
    const [worst, best] = [at(sorted, 0), at(sorted, 2)];
    return [
      [rowsOf('q1', 'supplier deliveries late', ...rows)],
      `{m:${worst[0]}~${best[0]}}: ${n(worst[2])} of ${n(worst[1])} deliveries were late (${p(rate(worst))}). The most
      punctual is ${best[0]} at ${p(rate(best))}, ${n((rate(worst) - rate(best)) * 100, 1)} points lower [q1].`,
    ];
  }),
  told('5-vouchers', 'How much do vouchers cost us per order?', (dice) => {
    const [orders, with_, value] = [
      dice.between(20_000, 60_000),
      dice.between(3000, 9000),
      dice.between(30_000, 99_000),
    ];
    return [
      [rowsOf('q1', 'orders orders_with_voucher voucher_value', [orders, with_, value])],
      `${n(with_)} of ${n(orders)} orders (${p(with_ / orders)}) used a voucher, worth £${n(value)} in total. This is
      £${n(value / with_, 2)} per order with a voucher and £${n(value / orders, 2)} over all orders [q1].`,
    ];
  }),
  told('5-currency-pair', 'What did we bill in USD, in pounds?', (dice) => {
    const [usd, rate] = [dice.between(100_000, 900_000), dice.between(7100, 8300) / 10_000];
    return [
      [rowsOf('q1', 'billed_usd gbp_per_usd', [usd, rate])],
      `We billed $${n(usd)}. At ${n(rate, 4)} pounds per dollar this is £${n(usd * rate)} [q1].`,
    ];
  }),
  told('5-oldest', 'What is the oldest unpaid invoice?', (dice) => {
    const amount = dice.between(300, 9000);
    const rest = dice.between(20, 90);
    return [
      [
        rowsOf('q1', 'invoice_no issued amount', ['R-2024-0093', '2024-04-15', amount]),
        rowsOf('q2', 'unpaid_invoices', [rest]),
      ],
      `Invoice R-2024-0093 of {p:15 April 2024~25 April 2024} over £${n(amount)} [q1]. It's one of ${n(rest)} unpaid
      invoices [q2].`,
    ];
  }),
  told('5-three-of', 'In how many of the stores did footfall rise?', (dice) => {
    const rows = 'Bath|Ely|Truro|Wells'
      .split('|')
      .map((name) => [name, dice.between(4000, 9000), dice.between(4000, 9000)] as const);
    const up = rows.filter(([, before, now]) => now > before);
    const lines = rows.map(
      ([name, before, now]) => `- ${name}: ${n(before)} → ${n(now)} (${sp(growth(before, now))})`,
    );
    return [
      [rowsOf('q1', 'store footfall_may footfall_june', ...rows)],
      `Footfall rose in ${up.length} of the 4 stores:

      ${lines.join('\n')}

      In all four it went from ${n(column(rows, 1))} to ${n(column(rows, 2))} [q1].`,
    ];
  }),
  told('5-tariff', 'What would a parcel surcharge of 0.35 cost us a year?', (dice) => {
    const parcels = dice.between(110_000, 490_000);
    return [
      [rowsOf('q1', 'parcels_last_year', [parcels])],
      `Last year we sent ${n(parcels)} parcels. A surcharge of £0.35 each would cost £${n(parcels * 0.35)} a year, or
      about £${n((parcels * 0.35) / 12)} a month [q1].`,
    ];
  }),
];
