import { answer, cite, direction, join } from './say.ts';
import { defineTemplate, neighbours, others, sumOf, type Template } from './template.ts';
import { freshOtherTemplates } from './templates-fresh-other.ts';
import * as worlds from './worlds-fresh.ts';

const english = 'en-US';
const british = 'en-GB';
const inMonth = { month: 'long', year: 'numeric' } as const;
const onDay = { day: 'numeric', month: 'long' } as const;

/** Answers in English on the worlds of worlds-fresh.ts. */
const freshEnglishTemplates: readonly Template[] = [
  defineTemplate('fr-en-mobile-share', english, worlds.sessions, ({ year, rows }, say) => {
    const [first, second] = rows;
    const all = first.mobile + first.desktop;
    return {
      question: `How mobile were our visitors in ${year}?`,
      parts: answer`In ${say.year(year)}, ${say.member(first.name, others(rows, first))} had ${say.number(all, {}, { 'wrong-total': [second.mobile + second.desktop] })} sessions, of which ${say.percent(first.mobile / all, 1, { 'wrong-share': [first.desktop / all] })} were on mobile ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-device-table', english, worlds.sessions, ({ year, rows }, say) => ({
    question: `Sessions by country and device, ${year}`,
    parts: [
      '| Country | Mobile | Desktop |\n|---|---|---|\n',
      ...join(
        rows.map(
          (row) =>
            answer`| ${say.member(row.name, others(rows, row))} | ${say.number(row.mobile, {}, { ...neighbours(rows, row, 'mobile'), 'other-column': [row.desktop] })} | ${say.number(row.desktop, {}, neighbours(rows, row, 'desktop'))} |`,
        ),
        '\n',
      ),
      ...answer`\n\nSource: ${cite('q1')}`,
    ],
  })),
  defineTemplate('fr-en-device-total', british, worlds.sessions, ({ year, rows }, say) => {
    const mobile = sumOf(rows, 'mobile');
    const desktop = sumOf(rows, 'desktop');
    return {
      question: 'Is mobile or desktop bigger?',
      parts: answer`Mobile, clearly: ${say.number(mobile, {}, { 'wrong-total': [desktop] })} sessions against ${say.number(desktop, {}, { 'wrong-total': [mobile] })} on desktop across all four countries in ${say.year(year)}, or ${say.number(mobile / desktop, { digits: 1 }, { 'wrong-ratio': [desktop / mobile] })} times as many ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-sessions-k', english, worlds.sessions, ({ rows }, say) => ({
    question: 'Top two countries on phones?',
    parts: answer`1. ${say.member(rows[0].name, others(rows, rows[0]))} – ${say.number(rows[0].mobile, { digits: 1, scale: [1e3, 'K'] }, neighbours(rows, rows[0], 'mobile'))}\n2. ${say.member(rows[1].name, others(rows, rows[1]))} – ${say.number(rows[1].mobile, { digits: 1, scale: [1e3, 'K'] }, neighbours(rows, rows[1], 'mobile'))}\n\nMobile sessions only ${cite('q1')}.`,
  })),
  defineTemplate('fr-en-ticket-hours', english, worlds.tickets, ({ rows }, say) => ({
    question: 'Which team was fastest to reply last quarter?',
    parts: answer`${say.member(rows[0].name, others(rows, rows[0]))} was the fastest in Q3 2025, with a first reply after ${say.number(rows[0].hours, { digits: 1, after: ' hours' }, neighbours(rows, rows[0], 'hours'))} on average; ${say.member(rows[3]?.name ?? '', others(rows, rows[3]))} took the longest at ${say.number(rows[3]?.hours ?? 0, { digits: 1, after: ' hours' }, neighbours(rows, rows[3], 'hours'))} ${cite('q1')}.`,
  })),
  defineTemplate('fr-en-ticket-bullets', english, worlds.tickets, ({ rows }, say) => ({
    question: 'Give me an overview of support in the third quarter.',
    parts: [
      ...answer`Support handled **${say.number(sumOf(rows, 'tickets'), {}, { 'wrong-total': [sumOf(rows.slice(1), 'tickets')] })}** tickets between July and September 2025 ${cite('q1')}:\n\n`,
      ...join(
        rows.map(
          (row) =>
            answer`* **${say.member(row.name, others(rows, row))}**: ${say.number(row.tickets, {}, { ...neighbours(rows, row, 'tickets'), 'other-column': [row.reopened] })} tickets, ${say.number(row.hours, { digits: 1 }, neighbours(rows, row, 'hours'))} h to first response, ${say.number(row.reopened, {}, neighbours(rows, row, 'reopened'))} reopened`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate('fr-en-ticket-reopen-rate', english, worlds.tickets, ({ rows }, say) => {
    const [, second] = rows;
    return {
      question: `How often are ${second.name} tickets reopened?`,
      parts: answer`About ${say.percent(second.reopened / second.tickets, 1, { 'wrong-share': [second.reopened / sumOf(rows, 'reopened')] })} of the time: ${say.number(second.reopened, {}, neighbours(rows, second, 'reopened'))} of the ${say.number(second.tickets, {}, neighbours(rows, second, 'tickets'))} ${say.member(second.name, others(rows, second))} tickets were opened again ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-ticket-gap', british, worlds.tickets, ({ rows }, say) => {
    const [first, second] = rows;
    const gap = first.tickets - second.tickets;
    return {
      question: 'Who gets the most tickets?',
      parts: answer`${say.member(first.name, others(rows, first))} leads with ${say.number(first.tickets, {}, neighbours(rows, first, 'tickets'))} tickets, ${say.number(gap, {}, { 'wrong-difference': [first.tickets - (rows[3]?.tickets ?? 0)] })} more than ${say.member(second.name, others(rows, second))} in second place ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-stock-short', english, worlds.inventory, ({ rows }, say) => {
    const [, , , low] = rows;
    if (low === undefined) throw new Error('four rows');
    return {
      question: 'Anything below its reorder point in Rotterdam?',
      parts: answer`Yes, one of the four articles: ${say.member(low.name, others(rows, low))} has ${say.number(low.onHand, { after: ' pieces' }, { ...neighbours(rows, low, 'onHand'), 'other-column': [low.reorder] })} on hand and a reorder point of ${say.number(low.reorder, {}, neighbours(rows, low, 'reorder'))}, so we are ${say.number(low.reorder - low.onHand, {}, { 'wrong-difference': [rows[0].onHand - rows[0].reorder] })} short ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-stock-value', english, worlds.inventory, ({ rows }, say) => {
    const [first, second] = rows;
    return {
      question: `What is the stock of ${first.name} worth?`,
      parts: answer`${say.number(first.onHand, {}, neighbours(rows, first, 'onHand'))} units × €${say.number(first.cost, { digits: 2 }, neighbours(rows, first, 'cost'))} = ${say.number(first.onHand * first.cost, { before: '€' }, { 'wrong-total': [first.onHand * second.cost] })} ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-stock-unit', british, worlds.inventory, ({ rows }, say) => ({
    question: 'unit costs pls',
    parts: [
      ...join(
        rows.map(
          (row) =>
            answer`${say.member(row.name, others(rows, row))} ${say.number(row.cost, { digits: 2, before: '€' }, neighbours(rows, row, 'cost'))}`,
        ),
        ', ',
      ),
      ...answer` each ${cite('q1')}`,
    ],
  })),
  defineTemplate('fr-en-mrr-total', english, worlds.plans, ({ rows }, say) => {
    const mrr = sumOf(rows, 'mrr');
    return {
      question: 'What is our MRR?',
      parts: answer`Total MRR for August 2025 is ${say.money(mrr, { 'wrong-total': [mrr - rows[1].mrr] }, 2)}, which annualizes to roughly ${say.number(mrr * 12, { digits: 1, scale: [1e6, ' million'], before: '€' })} ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-mrr-share', english, worlds.plans, ({ rows }, say) => {
    const [first, second] = rows;
    const mrr = sumOf(rows, 'mrr');
    return {
      question: 'Which plan brings in most of the MRR?',
      parts: answer`The ${say.member(first.name, others(rows, first))} plan does: ${say.money(first.mrr, neighbours(rows, first, 'mrr'))}, i.e. ${say.percent(first.mrr / mrr, 0, { 'wrong-share': [second.mrr / mrr] })} of the total, followed by ${say.member(second.name, others(rows, second))} with ${say.percent(second.mrr / mrr, 0, { 'wrong-share': [first.mrr / mrr] })} [q1].`,
    };
  }),
  defineTemplate('fr-en-arpu', english, worlds.plans, ({ rows }, say) => {
    const [, , third] = rows;
    const arpu = third.mrr / third.subscribers;
    return {
      question: `What does a ${third.name} subscriber pay on average?`,
      parts: answer`${say.number(arpu, { digits: 2, before: '€' }, { 'wrong-average': [rows[0].mrr / rows[0].subscribers] })} per month: ${say.number(third.mrr, { digits: 2, before: '€' }, neighbours(rows, third, 'mrr'))} of MRR spread over ${say.number(third.subscribers, {}, neighbours(rows, third, 'subscribers'))} subscribers on ${say.member(third.name, others(rows, third))} ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-churn', english, worlds.plans, ({ rows }, say) => {
    const [first] = rows;
    const last = rows[3] ?? first;
    return {
      question: 'Where is churn worst? Only what is above 0.5% a month.',
      parts: answer`Churn runs from ${say.percent(first.churn / 100, 1, neighboursPercent(rows, first))} on ${say.member(first.name, others(rows, first))} up to ${say.percent(last.churn / 100, 1, neighboursPercent(rows, last))} on ${say.member(last.name, others(rows, last))}, a spread of ${say.number(last.churn - first.churn, { digits: 1 }, { 'wrong-difference': [last.churn + first.churn] })} percentage points ${cite('q1')}. Anything above 0.5% a month was in scope, as you asked.`,
    };
  }),
  defineTemplate('fr-en-plan-table', british, worlds.plans, ({ rows }, say) => ({
    question: 'Plans with subscribers, MRR (thousands) and churn?',
    parts: [
      ...answer`As of Aug 2025 ${cite('q1')}:\n\n| Plan | Subscribers | MRR (k EUR) | Churn |\n|:--|--:|--:|--:|\n`,
      ...join(
        rows.map(
          (row) =>
            answer`| ${say.member(row.name, others(rows, row))} | ${say.number(row.subscribers, {}, neighbours(rows, row, 'subscribers'))} | ${say.number(row.mrr, { digits: 1, scale: [1e3, ''] }, neighbours(rows, row, 'mrr'))} | ${say.percent(row.churn / 100, 2, neighboursPercent(rows, row))} |`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate('fr-en-week-peak', english, worlds.weekly, ({ rows, byValue }, say) => ({
    question: 'When did signups peak?',
    parts: answer`The peak was the week of ${say.date(byValue[0].week, onDay, weeks(rows))} with ${say.number(byValue[0].signups, {}, neighbours(rows, byValue[0], 'signups'))} signups; the low, ${say.number(byValue[7]?.signups ?? 0, {}, neighbours(rows, byValue[7], 'signups'))}, came in the week starting ${say.date(byValue[7]?.week ?? '', onDay, weeks(rows))} ${cite('q1')}.`,
  })),
  defineTemplate('fr-en-week-change', english, worlds.weekly, ({ rows }, say) => {
    const [first, second] = rows;
    const change = second.signups / first.signups - 1;
    return {
      question: 'How did the second week compare with the first?',
      parts: answer`Signups ${direction(change > 0, 'rose', 'fell')} ${say.percent(Math.abs(change), 0, { 'wrong-growth': [Math.abs(first.signups / second.signups - 1)] })} from ${say.number(first.signups, {}, neighbours(rows.slice(2), undefined, 'signups'))} to ${say.number(second.signups, {}, neighbours(rows.slice(2), undefined, 'signups'))} ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-week-average', british, worlds.weekly, ({ rows }, say) => {
    const all = sumOf(rows, 'signups');
    return {
      question: 'What is a typical week?',
      parts: answer`Over these 8 weeks we had ${say.number(all, {}, { 'wrong-total': [all - rows[2].signups] })} signups in all, so an average of ${say.number(all / 8, {}, { 'wrong-average': [all / 7] })} a week ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-week-series', english, worlds.weekly, ({ rows }, say) => ({
    question: 'List weekly signups.',
    parts: [
      'Weekly signups:\n',
      ...join(
        rows.map(
          (row) =>
            answer`- ${say.date(row.week, { day: 'numeric', month: 'short' }, weeks(rows))} → ${say.number(row.signups, {}, neighbours(rows, row, 'signups'))}`,
        ),
        '\n',
      ),
      ...answer`\n${cite('q1')}`,
    ],
  })),
  defineTemplate('fr-en-budget-over', english, worlds.budgets, ({ year, rows }, say) => {
    const [first] = rows;
    return {
      question: `Did ${first.name} stay within budget in ${year}?`,
      parts: answer`No. ${say.member(first.name, others(rows, first))} spent ${say.money(first.actual, { ...neighbours(rows, first, 'actual'), 'other-column': [first.budget] }, 2)} against a budget of ${say.money(first.budget, neighbours(rows, first, 'budget'))}, an overrun of ${say.money(first.actual - first.budget, { 'wrong-difference': [(rows[2].actual ?? 0) - rows[2].budget] })} (${say.percent(first.actual / first.budget - 1, 1, { 'wrong-growth': [1 - first.budget / first.actual] }, true)}) ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-budget-table', english, worlds.budgets, ({ year, rows }, say) => ({
    question: `Budget vs actual ${year}`,
    parts: [
      '| Department | Budget | Actual | Variance |\n| --- | ---: | ---: | ---: |\n',
      ...join(
        rows.map(
          (row) =>
            answer`| ${say.member(row.name, others(rows, row))} | ${say.number(row.budget, { before: '€' }, neighbours(rows, row, 'budget'))} | ${say.number(row.actual, { before: '€' }, neighbours(rows, row, 'actual'))} | ${say.percent(row.actual / row.budget - 1, 1, {}, true)} |`,
        ),
        '\n',
      ),
      ...answer`\n\nAll figures are for fiscal ${say.year(year)} ${cite('q1')}.`,
    ],
  })),
  defineTemplate('fr-en-budget-total', british, worlds.budgets, ({ rows }, say) => {
    const actual = sumOf(rows, 'actual');
    const budget = sumOf(rows, 'budget');
    return {
      question: 'Overall, are we over or under?',
      parts: answer`Overall we are ${direction(actual > budget, 'over', 'under')} budget: the four departments spent ${say.number(actual, { digits: 2, scale: [1e6, 'm'], before: '€' }, {})} of the ${say.number(budget, { digits: 2, scale: [1e6, 'm'], before: '€' })} planned, that is ${say.percent(actual / budget, 1, { 'wrong-share': [budget / actual] })} ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-cohort', english, worlds.cohorts, ({ rows }, say) => ({
    question: 'How well do we keep new users?',
    parts: answer`Of the ${say.number(rows[0].users, {}, neighbours(rows, rows[0], 'users'))} users who joined in ${say.date(rows[0].cohort, inMonth, cohortMonths(rows))}, ${say.percent(rows[0].m1, 1, { ...neighbours(rows, rows[0], 'm1'), 'other-column': [rows[0].m2] })} were still active after one month, ${say.percent(rows[0].m2, 1, neighbours(rows, rows[0], 'm2'))} after two and ${say.percent(rows[0].m3, 1, neighbours(rows, rows[0], 'm3'))} after three ${cite('q1')}.`,
  })),
  defineTemplate('fr-en-cohort-drop', english, worlds.cohorts, ({ rows }, say) => {
    const last = rows[3] ?? rows[0];
    return {
      question: 'Is retention getting worse?',
      parts: answer`Yes: month-1 retention went ${direction(false, 'up', 'down')} from ${say.percent(rows[0].m1, 0)} for the ${say.date(rows[0].cohort, { month: 'long' }, cohortMonths(rows))} cohort to ${say.percent(last.m1, 0)} for the ${say.date(last.cohort, { month: 'long' }, cohortMonths(rows))} one, a loss of ${say.number((rows[0].m1 - last.m1) * 100, { digits: 1, after: ' pp' }, { 'wrong-difference': [(rows[0].m1 - last.m2) * 100] })} ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-en-cohort-table', english, worlds.cohorts, ({ rows }, say) => ({
    question: 'Retention by cohort',
    parts: [
      ...answer`${cite('q1')}\n\n| Cohort | Users | M1 | M2 | M3 |\n|---|---|---|---|---|\n`,
      ...join(
        rows.map(
          (row) =>
            answer`| ${say.date(row.cohort, { month: 'short', year: 'numeric' }, cohortMonths(rows))} | ${say.number(row.users, {}, neighbours(rows, row, 'users'))} | ${say.percent(row.m1, 1, neighbours(rows, row, 'm1'))} | ${say.percent(row.m2, 1, neighbours(rows, row, 'm2'))} | ${say.percent(row.m3, 1, neighbours(rows, row, 'm3'))} |`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate('fr-en-nulls', english, worlds.suppliers, ({ rows, unknown }, say) => ({
    question: 'How late are our suppliers?',
    parts: answer`${say.member(rows[2].name, others(rows, rows[2]))} is the latest, by ${say.number(rows[2].delay, { digits: 1 }, neighbours(rows, rows[2], 'delay'))} days on average over ${say.number(rows[2].deliveries, {}, neighbours(rows, rows[2], 'deliveries'))} deliveries. Note that ${unknown.name} has no delays on record, although it made ${say.number(unknown.deliveries, {}, neighbours(rows, undefined, 'deliveries'))} deliveries, so I left it out ${cite('q1')}.`,
  })),
  defineTemplate('fr-en-account-ids', english, worlds.accounts, ({ rows }, say) => ({
    question: 'Which of our biggest accounts are overdrawn?',
    parts: answer`Two of the four are: account ${say.member(rows[1].name, others(rows, rows[1]))} at ${say.money(rows[1].balance, neighbours(rows, rows[1], 'balance'), 2)} and account ${say.member(rows[3]?.name ?? '', others(rows, rows[3]))} at ${say.money(rows[3]?.balance ?? 0, neighbours(rows, rows[3], 'balance'), 2)} ${cite('q1')}.`,
  })),
  defineTemplate('fr-en-conversion', english, worlds.funnel, (world, say) => ({
    question: 'What was our conversion rate?',
    parts: answer`${say.number(world.orders, {}, { 'other-column': [world.revenue] })} orders ${cite('q2', ['q1'])} from ${say.number(world.visits, {}, {})} visits ${cite('q1', ['q2'])} make a conversion rate of ${say.percent(world.orders / world.visits, 2, { 'wrong-ratio': [world.orders / (world.visits - world.orders) + 0.01] })}.`,
  })),
  defineTemplate('fr-en-aov', british, worlds.funnel, (world, say) => ({
    question: 'Revenue per order and per visit?',
    parts: answer`Each order brought in ${say.number(world.revenue / world.orders, { digits: 2, before: '€' }, { 'wrong-average': [world.revenue / world.visits] })} on average ${cite('q2', ['q1'])}, and each visit ${say.number(world.revenue / world.visits, { digits: 2, before: '€' }, { 'wrong-average': [world.revenue / world.orders] })} ${cite('q1')}${cite('q2')}.`,
  })),
  defineTemplate('fr-en-late-share', english, worlds.carriers, ({ rows }, say) => ({
    question: 'Late share by carrier?',
    parts: [
      ...answer`Late parcels ${cite('q2')} as a share of all parcels ${cite('q1')}:\n\n`,
      ...join(
        rows.map(
          (row) =>
            answer`- ${say.member(row.name, others(rows, row))}: ${say.percent(row.late / row.parcels, 1, { 'wrong-share': [row.late / sumOf(rows, 'late')] })} (${say.number(row.late, {}, { ...neighbours(rows, row, 'late'), 'other-column': [row.parcels] })} of ${say.number(row.parcels, {}, neighbours(rows, row, 'parcels'))})`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate('fr-en-quarter-loss', english, worlds.quarters, ({ year, rows }, say) => ({
    question: `How did ${year} go?`,
    parts: answer`${say.year(year)} closed with revenue of ${say.number(sumOf(rows), { digits: 1, scale: [1e6, ' million'], before: 'EUR ' }, {})} ${cite('q1')}. Two quarters lost money: Q2 (${say.number(rows[1].net, {}, neighbours(rows, rows[1], 'net'))} EUR) and Q4 (${say.number(rows[3]?.net ?? 0, {}, neighbours(rows, rows[3], 'net'))} EUR) ${cite('q1')}. The best quarter was Q1, which earned ${say.number(rows[0].net, { scale: [1e3, ' thousand'] }, neighbours(rows, rows[0], 'net'))} EUR.`,
  })),
  defineTemplate('fr-en-quarter-margin', british, worlds.quarters, ({ year, rows }, say) => ({
    question: `What was the net margin in the third quarter of ${year}?`,
    parts: answer`Q3 ${say.year(year)} made a net result of ${say.money(rows[2].net, { ...neighbours(rows, rows[2], 'net'), 'other-column': [rows[2].revenue] })} on revenue of ${say.money(rows[2].revenue, neighbours(rows, rows[2]))}: a margin of ${say.percent(rows[2].net / rows[2].revenue, 1, { 'wrong-ratio': [rows[2].net / rows[0].revenue] })} ${cite('q1')}.`,
  })),
  defineTemplate('fr-en-payroll', english, worlds.offices, ({ rows }, say) => ({
    question: 'Where do we have the most people and what do they earn?',
    parts: answer`${say.number(rows[0].staff, {}, neighbours(rows, rows[0], 'staff'))} of our ${say.number(sumOf(rows, 'staff'), {}, { 'wrong-total': [sumOf(rows.slice(1), 'staff')] })} people work in ${say.member(rows[0].name, others(rows, rows[0]))}, where the average salary is ${say.number(rows[0].pay, { digits: 1, scale: [1e3, 'k'], before: '€' }, neighbours(rows, rows[0], 'pay'))} (as of 30 June 2025) ${cite('q1')}.`,
  })),
  defineTemplate('fr-en-intensity', british, worlds.plants, ({ rows }, say) => ({
    question: 'Which plant emits most per MWh?',
    parts: answer`${say.member(rows[3]?.name ?? '', others(rows, rows[3]))}: ${say.number((rows[3]?.tonnes ?? 0) / (rows[3]?.output ?? 1), { digits: 3 }, { 'wrong-ratio': [rows[0].tonnes / rows[0].output] })} t of CO2 per MWh in 2024. Across all plants, ${say.number(sumOf(rows, 'output'), { digits: 1, scale: [1e6, ' million'] })} MWh came with ${say.number(sumOf(rows, 'tonnes'), { digits: 2, scale: [1e6, ' million'] })} tonnes ${cite('q1')}.`,
  })),
  defineTemplate('fr-en-brand-points', english, worlds.brands, ({ rows }, say) => ({
    question: 'Who gained market share in 2024?',
    parts: answer`${say.member(rows[0].name, others(rows, rows[0]))} gained ${say.number(rows[0].is - rows[0].was, { digits: 1 }, { 'wrong-difference': [rows[0].is + 1] })} points to reach ${say.percent(rows[0].is / 100, 1, { 'other-column': [rows[0].was / 100] })}, while ${say.member(rows[1].name, others(rows, rows[1]))} lost ${say.number(rows[1].was - rows[1].is, { digits: 1 }, {})} points and ended at ${say.percent(rows[1].is / 100, 1, { 'other-column': [rows[1].was / 100] })} ${cite('q1')}.`,
  })),
];

export const freshTemplates: readonly Template[] = [
  ...freshEnglishTemplates,
  ...freshOtherTemplates,
];

function neighboursPercent<Row extends { readonly churn: number }>(rows: readonly Row[], row: Row) {
  const values = rows.flatMap((other) => (other === row ? [] : other.churn / 100));
  return { 'neighbour-row': values };
}

function weeks(rows: readonly { readonly week: string }[]): readonly string[] {
  return rows.map(({ week }) => week);
}

function cohortMonths(rows: readonly { readonly cohort: string }[]): readonly string[] {
  return rows.map(({ cohort }) => cohort);
}
