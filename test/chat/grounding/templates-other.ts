import * as worlds from './worlds.ts';
import { answer, cite, direction, join, period } from './say.ts';
import { defineTemplate, neighbours, others, sumOf, type Template } from './template.ts';

const [german, swiss, french, spanish, italian, portuguese, dutch, japanese, polish, hindi] = [
  'de-DE',
  'de-CH',
  'fr-FR',
  'es-ES',
  'it-IT',
  'pt-BR',
  'nl-NL',
  'ja-JP',
  'pl-PL',
  'en-IN',
] as const;

const million = (word: string) => ({ digits: 2, scale: [1e6, word] as const, after: ' €' });

/** Answers in other languages, as agents write them. */
export const otherTemplates: readonly Template[] = [
  defineTemplate('de-single', german, worlds.single, ({ year, revenue }, say) => ({
    question: `Wie hoch war der Umsatz ${year}?`,
    parts: answer`Der Umsatz betrug ${say.year(year)} ${say.money(revenue, {}, 2)} ${cite('q1')}.`,
  })),
  defineTemplate('de-single-mio', german, worlds.single, ({ year, revenue }, say) => ({
    question: `Wie viel haben wir ${year} verkauft?`,
    parts: answer`Im Jahr ${say.year(year)} lag der Umsatz bei rund ${say.number(revenue, million(' Mio.'))} ${cite('q1')}. Gezählt sind nur bezahlte Bestellungen.`,
  })),
  defineTemplate('de-region-list', german, worlds.byRegion, ({ rows, year }, say) => ({
    question: `Umsatz ${year} nach Region?`,
    parts: [
      ...answer`Umsatz nach Region im Jahr ${say.year(year)}:\n\n`,
      ...join(
        rows.map(
          (row) =>
            answer`- **${say.member(row.name, others(rows, row))}**: ${say.number(row.revenue, { digits: 2, after: ' €' }, neighbours(rows, row))} bei ${say.number(row.orders, {}, neighbours(rows, row, 'orders'))} Bestellungen`,
        ),
        '\n',
      ),
      '\n\nQuelle: ',
      cite('q1'),
    ],
  })),
  defineTemplate(
    'de-region-share',
    german,
    worlds.byRegion,
    ({ rows: [first, second], rows }, say) => ({
      question: 'Welche Region ist die wichtigste?',
      parts: answer`Die wichtigste Region ist ${say.member(first.name, others(rows, first))} mit einem Anteil von ${say.percent(first.revenue / sumOf(rows), 1, { 'wrong-share': [1 - first.revenue / sumOf(rows)] })} am Umsatz ${cite('q1')}. Auf ${say.member(
        second.name,
        others(rows, second).filter((name) => name !== first.name),
      )} entfallen ${say.percent(second.revenue / sumOf(rows), 1, { 'wrong-share': [second.revenue / first.revenue] })}.`,
    }),
  ),
  defineTemplate('de-month-change', german, worlds.byMonth, ({ rows }, say) => {
    const [before, last] = rows.slice(-2) as [(typeof rows)[0], (typeof rows)[0]];
    const growth = last.revenue / before.revenue - 1;
    const form = { month: 'long', year: 'numeric' } as const;
    return {
      question: 'Wie war der letzte Monat?',
      parts: answer`Im ${say.date(last.month, form, [])} lag der Umsatz bei ${say.money(last.revenue, neighbours(rows, last))}, das sind ${say.percent(Math.abs(growth), 1, { 'wrong-growth': [Math.abs(before.revenue / last.revenue - 1), Math.abs(growth) + 0.17] })} ${direction(growth > 0, 'mehr', 'weniger')} als im ${say.date(before.month, form, [])} (${say.money(before.revenue, neighbours(rows, before))}) ${cite('q1')}.`,
    };
  }),
  defineTemplate('de-two-queries', german, worlds.twoQueries, ({ was, is, year }, say) => ({
    question: `Vergleiche den Umsatz ${year} mit ${year - 1}.`,
    parts: answer`${say.year(year - 1)}: ${say.money(was, { 'neighbour-row': [is] })} ${cite('q1', ['q2'])}. ${say.year(year)}: ${say.money(is, { 'neighbour-row': [was] })} ${cite('q2', ['q1'])}. Der Umsatz ist um ${say.percent(Math.abs(is / was - 1), 0, { 'wrong-growth': [Math.abs(is / was - 1) + 0.14] })} ${direction(is > was, 'gestiegen', 'gesunken')}.`,
  })),
  defineTemplate('de-statuses', german, worlds.statuses, ({ rows: [paid], rows }, say) => ({
    question: 'Wie viele Bestellungen sind bezahlt?',
    parts: answer`${say.number(paid.orders, {}, neighbours(rows, paid, 'orders'))} von ${say.number(sumOf(rows, 'orders'), {}, { 'wrong-total': [sumOf(rows, 'orders') - (rows[1]?.orders ?? 0)] })} Bestellungen sind bezahlt, also ${say.percent(paid.orders / sumOf(rows, 'orders'), 1, { 'wrong-share': [1 - paid.orders / sumOf(rows, 'orders')] })} ${cite('q1')}.`,
  })),
  defineTemplate('de-dates', german, worlds.firstAndLast, ({ first, last }, say) => ({
    question: 'Von wann bis wann reichen die Daten?',
    parts: answer`Die erste Bestellung ist vom ${say.date(first, { dateStyle: 'medium' }, ['2017-03-09', '2021-11-30'])}, die letzte vom ${say.date(last, { dateStyle: 'long' }, ['2023-06-17', '2026-01-02'])} ${cite('q1')}.`,
  })),
  defineTemplate('de-profits', german, worlds.profits, ({ rows: [first, second], rows }, say) => ({
    question: 'Welche Sparte macht Verlust?',
    parts: answer`${say.member(second.name, others(rows, second))} macht einen Verlust von ${say.money(-second.profit, { 'neighbour-row': [first.profit] })}, ${say.member(first.name, others(rows, first))} einen Gewinn von ${say.money(first.profit, { 'neighbour-row': [-second.profit] })} ${cite('q1')}.`,
  })),
  defineTemplate('de-averages', german, worlds.averages, ({ average, median, orders }, say) => ({
    question: 'Wie hoch ist der durchschnittliche Bestellwert?',
    parts: answer`Der durchschnittliche Bestellwert liegt bei ${say.number(average, { digits: 2, after: ' €' }, { 'other-column': [median] })} (Median ${say.number(median, { digits: 2, after: ' €' }, { 'other-column': [average] })}), gerechnet über ${say.number(orders, {}, { 'other-column': [median] })} Bestellungen ${cite('q1')}.`,
  })),
  defineTemplate('ch-region', swiss, worlds.byRegion, ({ rows: [first], rows }, say) => ({
    question: 'Stärkste Region?',
    parts: answer`${say.member(first.name, others(rows, first))}: ${say.number(first.revenue, { digits: 2, before: 'EUR ' }, neighbours(rows, first))} ${cite('q1')}.`,
  })),
  defineTemplate('fr-single', french, worlds.single, ({ year, revenue }, say) => ({
    question: `Quel était le chiffre d’affaires en ${year} ?`,
    parts: answer`En ${say.year(year)}, le chiffre d’affaires s’élève à ${say.number(revenue, { digits: 2, after: ' €' })} ${cite('q1')}.`,
  })),
  defineTemplate('fr-single-millions', french, worlds.single, ({ year, revenue }, say) => ({
    question: `Combien avons-nous vendu en ${year} ?`,
    parts: answer`Environ ${say.number(revenue, { digits: 1, scale: [1e6, ' millions d’euros'] })} en ${say.year(year)} ${cite('q1')}, hors commandes annulées.`,
  })),
  defineTemplate('fr-region-table', french, worlds.byRegion, ({ rows }, say) => ({
    question: 'Chiffre d’affaires et commandes par région ?',
    parts: [
      '| Région | Chiffre d’affaires | Commandes |\n|---|---:|---:|\n',
      ...join(
        rows.map(
          (row) =>
            answer`| ${say.member(row.name, others(rows, row))} | ${say.number(row.revenue, { digits: 2, after: ' €' }, neighbours(rows, row))} | ${say.number(row.orders, {}, neighbours(rows, row, 'orders'))} |`,
        ),
        '\n',
      ),
      '\n\nSource : ',
      cite('q1'),
    ],
  })),
  defineTemplate('fr-month-best', french, worlds.byMonth, ({ rows, year }, say) => {
    const best = rows.reduce((a, b) => (b.revenue > a.revenue ? b : a));
    const worst = rows.reduce((a, b) => (b.revenue < a.revenue ? b : a));
    const form = { month: 'long' } as const;
    const all = rows.map(({ month }) => month);
    return {
      question: `Quels ont été le meilleur et le pire mois de ${year} ?`,
      parts: answer`Le meilleur mois est ${say.date(
        best.month,
        form,
        all.filter((month) => month !== worst.month),
      )} avec ${say.number(best.revenue, { after: ' €' }, neighbours(rows, best))}, le plus faible ${say.date(
        worst.month,
        form,
        all.filter((month) => month !== best.month),
      )} avec ${say.number(worst.revenue, { after: ' €' }, neighbours(rows, worst))} ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-compare', french, worlds.compared, ({ rows: [first], rows, year }, say) => ({
    question: 'Comment évoluent nos clients ?',
    parts: answer`${say.member(first.name, others(rows, first))} passe de ${say.money(first.was, { 'neighbour-row': rows.slice(1).map(({ was }) => was) })} en ${say.year(year - 1)} à ${say.money(first.is, { 'neighbour-row': rows.slice(1).map(({ is }) => is) })} en ${say.year(year)}, soit une ${direction(first.is > first.was, 'hausse', 'baisse')} de ${say.percent(Math.abs(first.is / first.was - 1), 1, { 'wrong-growth': [Math.abs(first.was / first.is - 1)] })} ${cite('q1')}.`,
  })),
  defineTemplate('fr-rates', french, worlds.rates, ({ rows: [first, second], rows }, say) => ({
    question: 'Quel canal convertit le mieux ?',
    parts: answer`Le taux de conversion est de ${say.percent(second.rate, 2, neighbours(rows, second, 'rate'))} pour ${say.member(
      second.name,
      others(rows, second).filter((name) => name !== first.name),
    )} et de ${say.percent(first.rate, 2, neighbours(rows, first, 'rate'))} pour ${say.member(
      first.name,
      others(rows, first).filter((name) => name !== second.name),
    )} ${cite('q1')}.`,
  })),
  defineTemplate('fr-count', french, worlds.customers, ({ rows, rows: [first] }, say) => ({
    question: 'Combien de clients avons-nous ?',
    parts: answer`Nous avons ${say.number(rows.length, {}, { 'wrong-count': [rows.length + 5] })} clients ${cite('q1')} ; le premier est ${say.member(
      first.name,
      rows.slice(1, 8).map(({ name }) => name),
    )} avec ${say.number(first.revenue, { digits: 2, after: ' €' }, neighbours(rows.slice(0, 6), first))}.`,
  })),
  defineTemplate('es-single', spanish, worlds.single, ({ year, revenue }, say) => ({
    question: `¿Cuáles fueron los ingresos en ${year}?`,
    parts: answer`Los ingresos de ${say.year(year)} fueron de ${say.number(revenue, { digits: 2, after: ' €' })} ${cite('q1')}.`,
  })),
  defineTemplate('es-region-list', spanish, worlds.byRegion, ({ rows }, say) => ({
    question: '¿Ingresos por región?',
    parts: [
      ...answer`Ingresos por región ${cite('q1')}:\n`,
      ...join(
        rows.map(
          (row, index) =>
            answer`${String(index + 1)}. ${say.member(row.name, others(rows, row))}: ${say.number(row.revenue, { after: ' €' }, neighbours(rows, row))}`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate('es-month-change', spanish, worlds.byMonth, ({ rows, year }, say) => {
    const [first, second] = rows;
    const growth = second.revenue / first.revenue - 1;
    const form = { month: 'long' } as const;
    return {
      question: `¿Cómo empezó ${year}?`,
      parts: answer`En ${say.date(first.month, form, [])} se ingresaron ${say.money(first.revenue, neighbours(rows, first))} y en ${say.date(second.month, form, [])} ${say.money(second.revenue, neighbours(rows, second))}: ${direction(growth > 0, 'un aumento', 'una bajada')} del ${say.percent(Math.abs(growth), 1, { 'wrong-growth': [Math.abs(first.revenue / second.revenue - 1)] })} ${cite('q1')}.`,
    };
  }),
  defineTemplate(
    'es-products',
    spanish,
    worlds.productCounts,
    ({ rows: [first, second], rows }, say) => ({
      question: '¿Qué productos se devuelven más?',
      parts: answer`${say.member(first.name, others(rows, first))} con ${say.number(first.returns, {}, neighbours(rows, first, 'returns'))} devoluciones y ${say.member(
        second.name,
        others(rows, second).filter((name) => name !== first.name),
      )} con ${say.number(second.returns, {}, neighbours(rows, second, 'returns'))} ${cite('q1')}.`,
    }),
  ),
  defineTemplate(
    'es-filtered',
    spanish,
    worlds.filtered,
    ({ region, year, quarter, revenue, orders }, say) => ({
      question: `¿Cómo fue el trimestre ${quarter} de ${year} en ${region}?`,
      parts: answer`En el ${period(`T${quarter} de ${year}`, [`T${quarter + 1} de ${year}`, `T${quarter} de ${year - 2}`])} ${say.member(region, [])} ingresó ${say.number(revenue, { digits: 2, after: ' €' }, { 'other-column': [orders] })} en ${say.number(orders, {}, { 'other-column': [revenue] })} pedidos ${cite('q1')}.`,
    }),
  ),
  defineTemplate('it-region-share', italian, worlds.byRegion, ({ rows: [first], rows }, say) => ({
    question: 'Qual è la regione più importante?',
    parts: answer`La regione più importante è ${say.member(first.name, others(rows, first))}, con ${say.number(first.revenue, { after: ' €' }, neighbours(rows, first))} su un totale di ${say.number(sumOf(rows), { after: ' €' }, { 'wrong-total': [sumOf(rows) - (rows[2]?.revenue ?? 0)] })}, cioè il ${say.percent(first.revenue / sumOf(rows), 1, { 'wrong-share': [1 - first.revenue / sumOf(rows)] })} ${cite('q1')}.`,
  })),
  defineTemplate('it-single', italian, worlds.single, ({ year, revenue }, say) => ({
    question: `Fatturato ${year}?`,
    parts: answer`Nel ${say.year(year)} il fatturato è stato di ${say.number(revenue, { digits: 2, scale: [1e6, ' milioni'], after: ' di euro' })} ${cite('q1')}.`,
  })),
  defineTemplate('it-quarters', italian, worlds.margins, ({ rows, year }, say) => ({
    question: `Margini ${year} per trimestre?`,
    parts: [
      ...answer`Margini per trimestre ${cite('q1')}:\n`,
      ...join(
        rows.map(
          (row) =>
            answer`- ${period(`${year}-Q${row.quarter}`, [`${year}-Q${(row.quarter % 4) + 1}`])}: ${say.percent(row.margin / 100, 1, { 'neighbour-row': rows.filter((other) => other !== row).map(({ margin }) => margin / 100) })}`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate('pt-two-queries', portuguese, worlds.twoQueries, ({ was, is, year }, say) => ({
    question: `Compare a receita de ${year} com a de ${year - 1}.`,
    parts: answer`A receita passou de ${say.money(was, { 'neighbour-row': [is] }, 2)} em ${say.year(year - 1)} ${cite('q1', ['q2'])} para ${say.money(is, { 'neighbour-row': [was] }, 2)} em ${say.year(year)} ${cite('q2', ['q1'])}, ${direction(is > was, 'um aumento', 'uma queda')} de ${say.percent(Math.abs(is / was - 1), 1, { 'wrong-growth': [Math.abs(is / was - 1) + 0.19] })}.`,
  })),
  defineTemplate('pt-customers', portuguese, worlds.customers, ({ rows: [first], rows }, say) => ({
    question: 'Quem é o maior cliente?',
    parts: answer`O maior cliente é ${say.member(
      first.name,
      rows.slice(1, 8).map(({ name }) => name),
    )}, com receita de ${say.money(first.revenue, neighbours(rows.slice(0, 6), first), 2)} em ${say.number(first.orders, {}, neighbours(rows.slice(0, 40), first, 'orders'))} pedidos ${cite('q1')}.`,
  })),
  defineTemplate('pt-billions', portuguese, worlds.billions, ({ rows: [first], rows }, say) => ({
    question: 'Qual país negocia mais?',
    parts: answer`${say.member(first.name, others(rows, first))} negocia mais, com um volume de ${say.number(first.volume, { digits: 2, scale: [1e9, ' bilhões'] }, neighbours(rows, first, 'volume'))} ${cite('q1')}.`,
  })),
  defineTemplate('nl-region', dutch, worlds.byRegion, ({ rows: [first, second], rows }, say) => ({
    question: 'Welke regio’s verkopen het meest?',
    parts: answer`${say.member(first.name, others(rows, first))} (${say.number(first.revenue, { before: '€ ' }, neighbours(rows, first))}) en ${say.member(
      second.name,
      others(rows, second).filter((name) => name !== first.name),
    )} (${say.number(second.revenue, { before: '€ ' }, neighbours(rows, second))}) verkopen het meest ${cite('q1')}.`,
  })),
  defineTemplate('nl-statuses', dutch, worlds.statuses, ({ rows: [, , open], rows }, say) => ({
    question: 'Hoeveel bestellingen zijn open?',
    parts: answer`Er zijn ${say.number(open.orders, {}, neighbours(rows, open, 'orders'))} bestellingen met status ${say.member('open', ['paid', 'cancelled'])} ${cite('q1')}.`,
  })),
  defineTemplate('ja-single', japanese, worlds.single, ({ year, revenue }, say) => ({
    question: `${year}年の売上は？`,
    parts: answer`${period(`${year}年`, [`${year - 3}年`])}の売上は${say.number(revenue, { after: 'ユーロ' })}です${cite('q1')}。`,
  })),
  defineTemplate('ja-region', japanese, worlds.byRegion, ({ rows: [first], rows }, say) => ({
    question: '一番売れている地域は？',
    parts: answer`${say.member(first.name, others(rows, first))}が一番で、売上は${say.number(first.revenue, { digits: 1, scale: [1e4, '万'], after: 'ユーロ' }, neighbours(rows, first))}です${cite('q1')}。`,
  })),
  defineTemplate('pl-month', polish, worlds.byMonth, ({ rows, year }, say) => {
    const best = rows.reduce((a, b) => (b.revenue > a.revenue ? b : a));
    return {
      question: `Który miesiąc był najlepszy w ${year}?`,
      parts: answer`Najlepszy był ${say.date(
        best.month,
        { month: 'long', year: 'numeric' },
        rows.map(({ month }) => month),
      )}: ${say.money(best.revenue, neighbours(rows, best), 2)} ${cite('q1')}.`,
    };
  }),
  defineTemplate('in-lakh', hindi, worlds.single, ({ year, revenue }, say) => ({
    question: `Revenue in ${year}, in lakh?`,
    parts: answer`Revenue in ${say.year(year)}: ${say.number(revenue, { digits: 2, scale: [1e5, ' lakh'] })} (${say.number(revenue, { before: 'EUR ' })}) ${cite('q1')}.`,
  })),
];
