import * as worlds from './worlds.ts';
import { answer, cite, direction, join, period } from './say.ts';
import { defineTemplate, neighbours, others, sumOf, type Template } from './template.ts';

const english = 'en-US';

/** Answers in English, as agents write them. */
export const englishTemplates: readonly Template[] = [
  defineTemplate('en-single-exact', english, worlds.single, ({ year, revenue }, say) => ({
    question: `What was revenue in ${year}?`,
    parts: answer`Revenue in ${say.year(year)} was ${say.money(revenue, {}, 2)} ${cite('q1')}.`,
  })),
  defineTemplate('en-single-rounded', english, worlds.single, ({ year, revenue }, say) => ({
    question: `How much did we sell in ${year}?`,
    parts: answer`In ${say.year(year)} we sold for about ${say.number(revenue, { digits: 2, scale: [1e6, ' million'], after: ' EUR' })} ${cite('q1')}. This counts paid orders only.`,
  })),
  defineTemplate('en-single-symbol', english, worlds.single, ({ year, revenue }, say) => ({
    question: 'How much revenue did we make two years before last?',
    parts: answer`**${say.number(revenue, { digits: 2, scale: [1e6, 'M'], before: '€' })}** ${cite('q1')}, for the year ${say.year(year)} (paid orders, in EUR).`,
  })),
  defineTemplate('en-single-thousands', english, worlds.single, ({ year, revenue }, say) => ({
    question: `Revenue ${year}, in thousands please`,
    parts: answer`${say.number(revenue, { digits: 1, scale: [1e3, 'k'] })} EUR of revenue for ${say.year(year)} ${cite('q1')}.`,
  })),
  defineTemplate('en-single-uncited', english, worlds.single, ({ year, revenue }, say) => ({
    question: `What was revenue in ${year}?`,
    parts: answer`Paid revenue from January to December ${say.year(year)} came to ${say.money(revenue)}.`,
  })),
  defineTemplate('en-region-list', english, worlds.byRegion, ({ year, rows }, say) => ({
    question: `Revenue by region in ${year}?`,
    parts: [
      ...answer`Revenue by region in ${say.year(year)} ${cite('q1')}:\n\n`,
      ...join(
        rows.map(
          (row) =>
            answer`- ${say.member(row.name, others(rows, row))}: ${say.money(row.revenue, neighbours(rows, row))}`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate('en-region-table', english, worlds.byRegion, ({ year, rows }, say) => ({
    question: `Show revenue and orders by region for ${year}.`,
    parts: [
      ...answer`Here are the regions in ${say.year(year)} ${cite('q1')}:\n\n| Region | Revenue (EUR) | Orders |\n| --- | ---: | ---: |\n`,
      ...join(
        rows.map(
          (row) =>
            answer`| ${say.member(row.name, others(rows, row))} | ${say.number(row.revenue, { digits: 2 }, neighbours(rows, row))} | ${say.number(row.orders, {}, { ...neighbours(rows, row, 'orders'), 'other-column': [row.revenue] })} |`,
        ),
        '\n',
      ),
      '\n\nAmounts are net of refunds.',
    ],
  })),
  defineTemplate(
    'en-region-top-two',
    english,
    worlds.byRegion,
    ({ rows: [first, second, ...rest], rows }, say) => ({
      question: 'Which region sells most?',
      parts: answer`${say.member(first.name, others(rows, first))} sells most, with ${say.number(first.revenue, { digits: 2, scale: [1e6, 'm'], before: '€' }, neighbours(rows, first))}, ahead of ${say.member(
        second.name,
        others(rows, second).filter((name) => name !== first.name),
      )} with ${say.number(second.revenue, { digits: 2, scale: [1e6, 'm'], before: '€' }, neighbours(rows, second))} ${cite('q1')}. The other ${say.number(rest.length, {}, { 'wrong-count': [rest.length + 3] })} regions follow.`,
    }),
  ),
  defineTemplate('en-region-share', english, worlds.byRegion, ({ rows: [first], rows }, say) => ({
    question: 'What share of revenue does the largest region have?',
    parts: answer`${say.member(first.name, others(rows, first))} has ${say.percent(first.revenue / sumOf(rows), 1, { 'wrong-share': [1 - first.revenue / sumOf(rows), first.revenue / (sumOf(rows) - first.revenue)] })} of all revenue (${say.money(first.revenue, neighbours(rows, first))} of ${say.money(sumOf(rows), { 'wrong-total': [sumOf(rows) - (rows[1]?.revenue ?? 0)] })}) ${cite('q1')}.`,
  })),
  defineTemplate(
    'en-region-difference',
    english,
    worlds.byRegion,
    ({ rows: [first, second], rows }, say) => ({
      question: 'How far ahead is the first region?',
      parts: answer`${say.member(first.name, others(rows, first))} is ${say.money(first.revenue - second.revenue, { 'wrong-difference': [first.revenue + second.revenue, first.revenue - (rows[2]?.revenue ?? 0)] })} ahead of ${say.member(
        second.name,
        others(rows, second).filter((name) => name !== first.name),
      )} ${cite('q1')}: ${say.money(first.revenue, neighbours(rows, first))} against ${say.money(second.revenue, neighbours(rows, second))}.`,
    }),
  ),
  defineTemplate(
    'en-region-ratio',
    english,
    worlds.byRegion,
    ({ rows, rows: [first, second] }, say) => {
      const last = rows.at(-1) ?? second;
      return {
        question: 'How do the first and the last region compare?',
        parts: answer`${say.member(
          first.name,
          others(rows, first).filter((name) => name !== last.name),
        )} makes ${say.number(first.revenue / last.revenue, { digits: 1 }, { 'wrong-ratio': [last.revenue / first.revenue, first.revenue / last.revenue + 1.7] })} times as much as ${say.member(
          last.name,
          others(rows, last).filter((name) => name !== first.name),
        )} ${cite('q1')}.`,
      };
    },
  ),
  defineTemplate('en-region-total', english, worlds.byRegion, ({ rows, year }, say) => ({
    question: `What did all regions sell in ${year}?`,
    parts: answer`Together, the ${say.number(rows.length, {}, { 'wrong-count': [rows.length + 2] })} regions sold ${say.money(sumOf(rows), { 'wrong-total': [sumOf(rows) - (rows[1]?.revenue ?? 0), sumOf(rows) - (rows.at(-1)?.revenue ?? 0)] })} in ${say.year(year)} ${cite('q1')}.`,
  })),
  defineTemplate('en-region-average', english, worlds.byRegion, ({ rows }, say) => ({
    question: 'What does a region sell on average?',
    parts: answer`On average, a region sells ${say.money(sumOf(rows) / rows.length, { 'wrong-average': [sumOf(rows) / (rows.length - 1), sumOf(rows) / (rows.length + 2)] })} ${cite('q1')}. That is the mean over the regions, not weighted by orders.`,
  })),
  defineTemplate('en-month-best', english, worlds.byMonth, ({ rows, year }, say) => {
    const best = rows.reduce((a, b) => (b.revenue > a.revenue ? b : a));
    const form = { month: 'long', year: 'numeric' } as const;
    return {
      question: `Which month was the best in ${year}?`,
      parts: answer`The best month was ${say.date(
        best.month,
        form,
        rows.map(({ month }) => month),
      )}, with ${say.money(best.revenue, neighbours(rows, best), 2)} ${cite('q1')}.`,
    };
  }),
  defineTemplate('en-month-from-to', english, worlds.byMonth, ({ rows, year }, say) => {
    const [first, second] = [rows[0], rows.at(-1)] as [(typeof rows)[0], (typeof rows)[0]];
    const form = { month: 'long' } as const;
    const growth = second.revenue / first.revenue - 1;
    return {
      question: `How did revenue develop over ${year}?`,
      parts: answer`Revenue ${direction(growth > 0, 'rose', 'fell')} from ${say.money(first.revenue, neighbours(rows, first))} in ${say.date(first.month, form, [])} to ${say.money(second.revenue, neighbours(rows, second))} in ${say.date(second.month, form, [])} ${say.year(year)}, ${direction(growth > 0, 'up', 'down')} ${say.percent(Math.abs(growth), 1, { 'wrong-growth': [Math.abs(first.revenue / second.revenue - 1), Math.abs(growth) + 0.31] })} ${cite('q1')}.`,
    };
  }),
  defineTemplate('en-month-table', english, worlds.byMonth, ({ rows }, say) => ({
    question: 'Revenue by month, as a table?',
    parts: [
      '| Month | Revenue |\n|---|---|\n',
      ...join(
        rows.map(
          (row) =>
            answer`| ${period(
              row.month.slice(0, 7),
              rows.filter((other) => other !== row).map(({ month }) => month.slice(0, 7)),
            )} | ${say.number(row.revenue, { digits: 2, before: '€' }, neighbours(rows, row))} |`,
        ),
        '\n',
      ),
      '\n\nSource: ',
      cite('q1'),
    ],
  })),
  defineTemplate('en-year-region', english, worlds.byYearAndRegion, ({ rows, year }, say) => ({
    question: `How did the regions do in ${year} against the year before?`,
    parts: join(
      rows.map(
        ({ name, was, is }) =>
          answer`${say.member(
            name,
            rows.filter((row) => row.name !== name).map((row) => row.name),
          )} went from ${say.money(was, { 'neighbour-row': rows.filter((row) => row.name !== name).map((row) => row.was) })} in ${say.year(year - 1)} to ${say.money(is, { 'neighbour-row': rows.filter((row) => row.name !== name).map((row) => row.is) })} in ${say.year(year)}, a change of ${say.percent(is / was - 1, 1, { 'wrong-growth': [was / is - 1, is / was - 1 + 0.23] }, true)} ${cite('q1')}.`,
      ),
      ' ',
    ),
  })),
  defineTemplate(
    'en-year-region-pivot',
    english,
    worlds.byYearAndRegion,
    ({ rows, year }, say) => ({
      question: `Compare the regions in ${year - 1} and ${year}.`,
      parts: [
        `| Region | ${year - 1} | ${year} | Change |\n|---|---:|---:|---:|\n`,
        ...join(
          rows.map(
            ({ name, was, is }) =>
              answer`| ${name} | ${say.number(was, {}, { 'neighbour-row': [is] })} | ${say.number(is, {}, { 'neighbour-row': [was] })} | ${say.percent(is / was - 1, 1, { 'wrong-growth': [was / is - 1] }, true)} |`,
          ),
          '\n',
        ),
        '\n\nAll amounts in EUR ',
        cite('q1'),
        '.',
      ],
    }),
  ),
  defineTemplate(
    'en-compare-customers',
    english,
    worlds.compared,
    ({ rows, rows: [first], year }, say) => ({
      question: 'How did our customers change their spending?',
      parts: answer`${say.member(first.name, others(rows, first))} ${direction(first.is > first.was, 'increased', 'decreased')} its spending by ${say.percent(Math.abs(first.is / first.was - 1), 1, { 'wrong-growth': [Math.abs(first.was / first.is - 1)] })}, from ${say.money(first.was, { 'neighbour-row': rows.slice(1).map(({ was }) => was) }, 2)} in ${say.year(year - 1)} to ${say.money(first.is, { 'neighbour-row': rows.slice(1).map(({ is }) => is) }, 2)} in ${say.year(year)} ${cite('q1')}.`,
    }),
  ),
  defineTemplate('en-two-queries', english, worlds.twoQueries, ({ was, is, year }, say) => ({
    question: `Revenue ${year} against ${year - 1}?`,
    parts: answer`Revenue was ${say.money(is, { 'neighbour-row': [was] })} in ${say.year(year)} ${cite('q2', ['q1'])} and ${say.money(was, { 'neighbour-row': [is] })} in ${say.year(year - 1)} ${cite('q1', ['q2'])}. That is ${direction(is > was, 'an increase', 'a decrease')} of ${say.money(Math.abs(is - was), { 'wrong-difference': [is + was, Math.abs(is - was) * 1.21] })}, or ${say.percent(Math.abs(is / was - 1), 1, { 'wrong-growth': [Math.abs(was / is - 1)] })}.`,
  })),
  defineTemplate(
    'en-two-queries-up-front',
    english,
    worlds.twoQueries,
    ({ was, is, year }, say) => ({
      question: 'Did we grow?',
      parts: answer`${is > was ? 'Yes' : 'No'}: revenue ${direction(is > was, 'grew', 'shrank')} by ${say.percent(Math.abs(is / was - 1), 1, { 'wrong-growth': [Math.abs(was / is - 1), Math.abs(is / was - 1) + 0.12] })} between ${say.year(year - 1)} and ${say.year(year)} ${cite('q1')} ${cite('q2')}.`,
    }),
  ),
  defineTemplate('en-rates', english, worlds.rates, ({ rows, rows: [first] }, say) => ({
    question: 'Which channel converts how well?',
    parts: [
      ...answer`Conversion by channel ${cite('q1')}: `,
      ...join(
        rows.map(
          (row) =>
            answer`${say.member(row.name, others(rows, row))} ${say.percent(row.rate, 2, neighbours(rows, row, 'rate'))}`,
        ),
        ', ',
      ),
      ...answer`. ${first.name} had ${say.number(first.visits, {}, neighbours(rows, first, 'visits'))} visits.`,
    ],
  })),
  defineTemplate(
    'en-rates-points',
    english,
    worlds.rates,
    ({ rows, rows: [first, second] }, say) => ({
      question: 'Which converts better?',
      parts: answer`${say.member(
        second.name,
        others(rows, second).filter((name) => name !== first.name),
      )} converts ${say.number((second.rate - first.rate) * 100, { digits: 2 }, { 'wrong-difference': [(second.rate + first.rate) * 100] })} percentage points better than ${say.member(
        first.name,
        others(rows, first).filter((name) => name !== second.name),
      )} (${say.percent(second.rate, 2, neighbours(rows, second, 'rate'))} against ${say.percent(first.rate, 2, neighbours(rows, first, 'rate'))}) ${cite('q1')}.`,
    }),
  ),
  defineTemplate('en-margins', english, worlds.margins, ({ rows, year }, say) => ({
    question: `Margins in ${year}?`,
    parts: [
      ...join(
        rows.map(
          (row) =>
            answer`- ${period(`Q${row.quarter} ${year}`, [`Q${(row.quarter % 4) + 1} ${year}`, `Q${row.quarter} ${year - 4}`])}: ${say.percent(row.margin / 100, 1, { 'neighbour-row': rows.filter((other) => other !== row).map(({ margin }) => margin / 100) })} on ${say.money(row.revenue, neighbours(rows, row))} of revenue`,
        ),
        '\n',
      ),
      '\n\nMargins are after shipping ',
      cite('q1'),
      '.',
    ],
  })),
  defineTemplate('en-profits', english, worlds.profits, ({ rows, rows: [first, second] }, say) => ({
    question: 'Which units lose money?',
    parts: answer`${say.member(second.name, others(rows, second))} lost ${say.money(-second.profit, { 'neighbour-row': [first.profit] })} ${cite('q1')}. ${say.member(first.name, others(rows, first))} earned ${say.money(first.profit, { 'neighbour-row': [-second.profit] })}.`,
  })),
  defineTemplate('en-profits-list', english, worlds.profits, ({ rows }, say) => ({
    question: 'Profit by unit?',
    parts: [
      ...answer`Profit by unit, in EUR ${cite('q1')}:\n`,
      ...join(
        rows.map(
          (row) =>
            answer`* ${say.member(row.name, others(rows, row))}: ${say.number(row.profit, { digits: 2 }, { ...neighbours(rows, row, 'profit'), 'sign-flipped': [-row.profit] })}`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate(
    'en-customers-top',
    english,
    worlds.customers,
    ({ rows: [first, second, third], rows }, say) => ({
      question: 'Who are our top 3 customers?',
      parts: [
        ...answer`Our top 3 customers by revenue ${cite('q1')}:\n\n`,
        ...join(
          [first, second, third].map(
            (row, index) =>
              answer`${String(index + 1)}. **${say.member(
                row.name,
                rows.slice(3, 8).map(({ name }) => name),
              )}** – ${say.money(row.revenue, neighbours(rows.slice(0, 6), row), 2)} from ${say.number(row.orders, {}, neighbours(rows.slice(0, 40), row, 'orders'))} orders`,
          ),
          '\n',
        ),
        '\n\nThey are the same as last year.',
      ],
    }),
  ),
  defineTemplate(
    'en-customers-count',
    english,
    worlds.customers,
    ({ rows, rows: [first] }, say) => ({
      question: 'How many customers do we have, and who is the biggest?',
      parts: answer`We have ${say.number(rows.length, {}, { 'wrong-count': [rows.length + 4, rows.length - 3] })} customers ${cite('q1')}. The biggest is ${say.member(
        first.name,
        rows.slice(1, 8).map(({ name }) => name),
      )}, who last ordered on ${say.date(first.last, { dateStyle: 'long' }, ['2025-12-24', '2024-02-11'])}.`,
    }),
  ),
  defineTemplate(
    'en-statuses',
    english,
    worlds.statuses,
    ({ rows, rows: [paid, refunded] }, say) => ({
      question: 'How many orders were refunded?',
      parts: answer`${say.number(refunded.orders, {}, neighbours(rows, refunded, 'orders'))} orders were ${say.member('refunded', ['open', 'cancelled'])} and ${say.number(paid.orders, {}, neighbours(rows, paid, 'orders'))} were paid ${cite('q1')}, so refunds are ${say.percent(refunded.orders / sumOf(rows, 'orders'), 1, { 'wrong-share': [refunded.orders / paid.orders + 0.05, 1 - refunded.orders / sumOf(rows, 'orders')] })} of all orders.`,
    }),
  ),
  defineTemplate('en-dates', english, worlds.firstAndLast, ({ first, last, buyers }, say) => ({
    question: 'Since when do we have orders?',
    parts: answer`The first order is from ${say.date(first, { dateStyle: 'long' }, ['2017-03-09', '2021-11-30'])} and the latest from ${say.date(last, { dateStyle: 'long' }, ['2023-06-17', '2026-01-02'])} ${cite('q1')}. ${say.number(buyers, {}, { 'wrong-count': [buyers + 40] })} different buyers have ordered in between.`,
  })),
  defineTemplate('en-dates-iso', english, worlds.firstAndLast, ({ first, last }) => ({
    question: 'What does the data cover?',
    parts: answer`Orders run from ${period(first, ['2017-03-09', '2021-11-30'])} to ${period(last, ['2023-06-17', '2026-01-02'])} ${cite('q1')}. I cannot say anything about orders before or after.`,
  })),
  defineTemplate(
    'en-products',
    english,
    worlds.productCounts,
    ({ rows, rows: [first, second] }, say) => ({
      question: 'Which 5 products come back damaged most often?',
      parts: answer`${say.member(first.name, others(rows, first))} leads with ${say.number(first.returns, {}, neighbours(rows, first, 'returns'))} damaged returns, then ${say.member(
        second.name,
        others(rows, second).filter((name) => name !== first.name),
      )} with ${say.number(second.returns, {}, neighbours(rows, second, 'returns'))} ${cite('q1')}. The 5 products together have ${say.number(sumOf(rows, 'returns'), {}, { 'wrong-total': [sumOf(rows, 'returns') - first.returns] })}.`,
    }),
  ),
  defineTemplate('en-averages', english, worlds.averages, ({ average, median, orders }, say) => ({
    question: 'What is the average order value?',
    parts: answer`The average order value is ${say.number(average, { digits: 2, before: '€' }, { 'other-column': [median] })}, the median ${say.number(median, { digits: 2, before: '€' }, { 'other-column': [average] })}, over ${say.number(orders, {}, { 'other-column': [average] })} paid orders ${cite('q1')}.`,
  })),
  defineTemplate(
    'en-two-tables',
    english,
    worlds.twoTables,
    ({ regionRows, productRows, year }, say) => {
      const [region, product] = [regionRows[0], productRows[0]] as const;
      return {
        question: `What sells best in ${year}, and where?`,
        parts: answer`${say.member(region?.name ?? '', others(regionRows, region))} is the strongest region with ${say.money(region?.revenue ?? 0, neighbours(regionRows, region))} ${cite('q1', ['q2'])}. The strongest product is the ${say.member(product?.name ?? '', others(productRows, product))} with ${say.money(product?.revenue ?? 0, neighbours(productRows, product))} ${cite('q2', ['q1'])}.`,
      };
    },
  ),
  defineTemplate(
    'en-filtered',
    english,
    worlds.filtered,
    ({ region, year, quarter, revenue, orders }, say) => ({
      question: `How was Q${quarter} ${year} in ${region}?`,
      parts: answer`In ${period(`Q${quarter} ${year}`, [`Q${quarter + 1} ${year}`, `Q${quarter} ${year - 1}`])}, ${say.member(region, [])} made ${say.money(revenue, { 'other-column': [orders] })} with ${say.number(orders, {}, { 'other-column': [revenue] })} orders ${cite('q1')}, or ${say.number(revenue / orders, { digits: 2, before: '€' }, { 'wrong-ratio': [orders / revenue, (revenue / orders) * 1.31] })} an order.`,
    }),
  ),
  defineTemplate('en-nothing', english, worlds.nothing, ({ year }, say) => ({
    question: `How many orders were lost in ${year}?`,
    parts: answer`No order was lost in ${say.year(year)} ${cite('q1')}: the query returned no rows.`,
  })),
  defineTemplate(
    'en-billions',
    english,
    worlds.billions,
    ({ rows, rows: [first, second] }, say) => ({
      question: 'Trade volume by country?',
      parts: answer`${say.member(first.name, others(rows, first))} traded ${say.number(first.volume, { digits: 2, scale: [1e9, ' billion'] }, neighbours(rows, first, 'volume'))} and ${say.member(
        second.name,
        others(rows, second).filter((name) => name !== first.name),
      )} ${say.number(second.volume, { digits: 2, scale: [1e9, 'bn'] }, neighbours(rows, second, 'volume'))} ${cite('q1')}.`,
    }),
  ),
  defineTemplate(
    'en-billions-exponent',
    english,
    worlds.billions,
    ({ rows, rows: [first] }, say) => ({
      question: 'How much does the first country trade?',
      parts: answer`${say.member(first.name, others(rows, first))}: ${{ ...say.number(first.volume, {}, neighbours(rows, first, 'volume')), text: first.volume.toExponential(4), write: (value: number) => value.toExponential(4), step: 1e5 }} ${cite('q1')}`,
    }),
  ),
];
