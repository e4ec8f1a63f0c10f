import { answer, cite, direction, join } from './say.ts';
import { defineTemplate, neighbours, others, sumOf, type Template } from './template.ts';
import * as worlds from './worlds-fresh.ts';

const [german, french, spanish, italian, dutch, portuguese, japanese, polish] = [
  'de-DE',
  'fr-FR',
  'es-ES',
  'it-IT',
  'nl-NL',
  'pt-PT',
  'ja-JP',
  'pl-PL',
] as const;
const inMonth = { month: 'long', year: 'numeric' } as const;
const onDay = { day: 'numeric', month: 'long' } as const;

/** Answers in other languages on the worlds of worlds-fresh.ts. */
export const freshOtherTemplates: readonly Template[] = [
  defineTemplate('fr-de-budget', german, worlds.budgets, ({ year, rows }, say) => ({
    question: `Wer hat ${year} das Budget überzogen?`,
    parts: answer`Am stärksten hat ${say.member(rows[2].name, others(rows, rows[2]))} überzogen: Ausgaben von ${say.money(rows[2].actual, { ...neighbours(rows, rows[2], 'actual'), 'other-column': [rows[2].budget] })} standen ${say.year(year)} einem Budget von ${say.money(rows[2].budget, neighbours(rows, rows[2], 'budget'))} gegenüber, das sind ${say.percent(rows[2].actual / rows[2].budget - 1, 1, { 'wrong-growth': [1 - rows[2].budget / rows[2].actual] })} mehr als geplant ${cite('q1')}.`,
  })),
  defineTemplate('fr-de-tickets', german, worlds.tickets, ({ rows }, say) => ({
    question: 'Wie viele Tickets hatte jedes Team im 3. Quartal?',
    parts: [
      ...answer`Im dritten Quartal 2025 waren es insgesamt ${say.number(sumOf(rows, 'tickets'), {}, { 'wrong-total': [sumOf(rows.slice(1), 'tickets')] })} Tickets ${cite('q1')}:\n\n`,
      ...join(
        rows.map(
          (row) =>
            answer`- ${say.member(row.name, others(rows, row))}: ${say.number(row.tickets, {}, neighbours(rows, row, 'tickets'))} (erste Antwort nach ${say.number(row.hours, { digits: 1 }, neighbours(rows, row, 'hours'))} Std.)`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate('fr-de-quote', german, worlds.funnel, (world, say) => ({
    question: 'Wie hoch war die Konversionsrate?',
    parts: answer`Aus rund ${say.number(world.visits, { scale: [1e3, ' Tsd.'] })} Besuchen ${cite('q1', ['q2'])} wurden ${say.number(world.orders)} Bestellungen ${cite('q2', ['q1'])}, also ${say.percent(world.orders / world.visits, 1, { 'wrong-ratio': [(world.orders / world.visits) * 1.7] })}. Der mittlere Bestellwert lag bei ${say.number(world.revenue / world.orders, { digits: 2, after: ' €' }, { 'wrong-average': [world.revenue / world.visits] })} ${cite('q2')}.`,
  })),
  defineTemplate('fr-de-verlust', german, worlds.quarters, ({ year, rows }, say) => ({
    question: `Ergebnis ${year} nach Quartalen`,
    parts: [
      '| Quartal | Umsatz (EUR) | Ergebnis (EUR) |\n|---|---:|---:|\n',
      ...join(
        rows.map(
          (row) =>
            answer`| ${row.name} ${String(year)} | ${say.number(row.revenue, {}, neighbours(rows, row))} | ${say.number(row.net, { digits: 2 }, neighbours(rows, row, 'net'))} |`,
        ),
        '\n',
      ),
      ...answer`\n\nUnterm Strich bleiben ${say.money(sumOf(rows, 'net'), { 'wrong-total': [sumOf(rows.slice(1), 'net')] })} ${cite('q1')}.`,
    ],
  })),
  defineTemplate('fr-de-mrr', german, worlds.plans, ({ rows }, say) => ({
    question: 'MRR im August?',
    parts: answer`Der MRR im August 2025 beträgt ${say.number(sumOf(rows, 'mrr'), { digits: 1, scale: [1e3, ' Tsd.'], after: ' €' }, { 'wrong-total': [sumOf(rows.slice(1), 'mrr')] })}; ${say.percent(rows[0].mrr / sumOf(rows, 'mrr'), 0, { 'wrong-share': [rows[1].mrr / sumOf(rows, 'mrr')] })} davon kommen aus dem Tarif ${say.member(rows[0].name, others(rows, rows[0]))} ${cite('q1')}.`,
  })),
  defineTemplate('fr-de-woche', german, worlds.weekly, ({ rows, byValue }, say) => ({
    question: 'Beste Woche?',
    parts: answer`Die meisten Anmeldungen gab es in der Woche ab dem ${say.date(byValue[0].week, onDay, weeks(rows))}: ${say.number(byValue[0].signups, {}, neighbours(rows, byValue[0], 'signups'))}, gut ${say.number(byValue[0].signups - byValue[1].signups, {}, { 'wrong-difference': [byValue[0].signups - byValue[2].signups] })} mehr als in der zweitbesten Woche ${cite('q1')}.`,
  })),
  defineTemplate('fr-fr-marques', french, worlds.brands, ({ rows }, say) => ({
    question: 'Quelle marque a gagné des parts de marché ?',
    parts: answer`${say.member(rows[0].name, others(rows, rows[0]))} passe de ${say.percent(rows[0].was / 100, 1, { 'other-column': [rows[0].is / 100] })} en 2023 à ${say.percent(rows[0].is / 100, 1, { 'other-column': [rows[0].was / 100] })} en 2024, soit ${say.number(rows[0].is - rows[0].was, { digits: 1, before: '+' }, { 'wrong-difference': [rows[0].is + 2] })} points ${cite('q1')}.`,
  })),
  defineTemplate('fr-fr-bureaux', french, worlds.offices, ({ rows }, say) => ({
    question: 'Effectifs et salaires par bureau ?',
    parts: [
      ...answer`Au 30 juin 2025, nous comptons ${say.number(sumOf(rows, 'staff'), {}, { 'wrong-total': [sumOf(rows.slice(1), 'staff')] })} salariés ${cite('q1')} :\n`,
      ...join(
        rows.map(
          (row) =>
            answer`- **${say.member(row.name, others(rows, row))}** : ${say.number(row.staff, {}, neighbours(rows, row, 'staff'))} personnes, ${say.number(row.pay, { after: ' €' }, neighbours(rows, row, 'pay'))} en moyenne`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate('fr-fr-retards', french, worlds.carriers, ({ rows }, say) => ({
    question: 'Qui livre en retard ?',
    parts: answer`${say.member(rows[2].name, others(rows, rows[2]))} : ${say.number(rows[2].late, {}, neighbours(rows, rows[2], 'late'))} colis en retard ${cite('q2', ['q1'])} sur ${say.number(rows[2].parcels, {}, neighbours(rows, rows[2], 'parcels'))} ${cite('q1', ['q2'])}, soit ${say.percent(rows[2].late / rows[2].parcels, 1, { 'wrong-share': [rows[0].late / rows[0].parcels] })}.`,
  })),
  defineTemplate('fr-fr-ca', french, worlds.quarters, ({ year, rows }, say) => ({
    question: `Chiffre d'affaires ${year} ?`,
    parts: answer`Le chiffre d'affaires ${say.year(year)} atteint ${say.number(sumOf(rows), { digits: 2, scale: [1e6, ' millions'], after: " d'euros" })} ${cite('q1')}. Le deuxième trimestre se solde par une perte de ${say.number(Math.abs(rows[1].net), { after: ' €' }, { 'other-column': [rows[1].revenue] })}.`,
  })),
  defineTemplate('fr-fr-sessions', french, worlds.sessions, ({ year, rows }, say) => ({
    question: 'Quelle est la part du mobile ?',
    parts: answer`En ${say.year(year)}, le mobile représente ${say.percent(sumOf(rows, 'mobile') / (sumOf(rows, 'mobile') + sumOf(rows, 'desktop')), 0, { 'wrong-share': [sumOf(rows, 'desktop') / (sumOf(rows, 'mobile') + sumOf(rows, 'desktop'))] })} des ${say.number(sumOf(rows, 'mobile') + sumOf(rows, 'desktop'), { digits: 2, scale: [1e6, ' M'] })} de sessions ${cite('q1')}.`,
  })),
  defineTemplate('fr-es-inventario', spanish, worlds.inventory, ({ rows }, say) => ({
    question: '¿Qué hay en el almacén?',
    parts: [
      ...answer`En Rotterdam ${cite('q1')}:\n\n| Artículo | Existencias | Coste unitario |\n|---|---|---|\n`,
      ...join(
        rows.map(
          (row) =>
            answer`| ${say.member(row.name, others(rows, row))} | ${say.number(row.onHand, {}, { ...neighbours(rows, row, 'onHand'), 'other-column': [row.reorder] })} | ${say.number(row.cost, { digits: 2, after: ' €' }, neighbours(rows, row, 'cost'))} |`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate('fr-es-semana', spanish, worlds.weekly, ({ rows }, say) => {
    const last = rows[7] ?? rows[0];
    const change = last.signups / rows[0].signups - 1;
    return {
      question: '¿Cómo evolucionaron las altas?',
      parts: answer`Las altas ${direction(change > 0, 'subieron', 'bajaron')} un ${say.percent(Math.abs(change), 1, { 'wrong-growth': [Math.abs(rows[0].signups / last.signups - 1)] })}, de ${say.number(rows[0].signups)} en la semana del ${say.date(rows[0].week, onDay, weeks(rows))} a ${say.number(last.signups)} en la del ${say.date(last.week, onDay, weeks(rows))} ${cite('q1')}.`,
    };
  }),
  defineTemplate('fr-es-plan', spanish, worlds.plans, ({ rows }, say) => ({
    question: '¿Cuánto ingresa cada plan?',
    parts: answer`El plan ${say.member(rows[0].name, others(rows, rows[0]))} ingresa ${say.money(rows[0].mrr, neighbours(rows, rows[0], 'mrr'), 2)} al mes con ${say.number(rows[0].subscribers, {}, neighbours(rows, rows[0], 'subscribers'))} suscriptores; el segundo, ${say.member(rows[1].name, others(rows, rows[1]))}, ${say.money(rows[1].mrr, neighbours(rows, rows[1], 'mrr'), 2)} con ${say.number(rows[1].subscribers, {}, neighbours(rows, rows[1], 'subscribers'))} ${cite('q1')}.`,
  })),
  defineTemplate('fr-es-centrales', spanish, worlds.plants, ({ rows }, say) => ({
    question: '¿Cuánto produjo cada central en 2024?',
    parts: answer`En 2024, ${say.member(rows[0].name, others(rows, rows[0]))} produjo ${say.number(rows[0].output, { digits: 1, scale: [1e6, ' millones'] }, neighbours(rows, rows[0], 'output'))} de MWh, el ${say.percent(rows[0].output / sumOf(rows, 'output'), 0, { 'wrong-share': [rows[0].output / sumOf(rows.slice(1), 'output')] })} del total, y emitió ${say.number(rows[0].tonnes, { scale: [1e3, ' mil'] }, neighbours(rows, rows[0], 'tonnes'))} toneladas de CO2 ${cite('q1')}.`,
  })),
  defineTemplate('fr-es-cuentas', spanish, worlds.accounts, ({ rows }, say) => ({
    question: '¿Saldo de las cuentas grandes?',
    parts: join(
      rows.map(
        (row) =>
          answer`- Cuenta ${say.member(row.name, others(rows, row))}: ${say.number(row.balance, { digits: 2, after: ' €' }, neighbours(rows, row, 'balance'))} ${cite('q1')}`,
      ),
      '\n',
    ),
  })),
  defineTemplate('fr-it-ticket', italian, worlds.tickets, ({ rows }, say) => ({
    question: 'Quale squadra riapre più ticket?',
    parts: answer`${say.member(rows[0].name, others(rows, rows[0]))} ha ricevuto ${say.number(rows[0].tickets, {}, { ...neighbours(rows, rows[0], 'tickets'), 'other-column': [rows[0].reopened] })} ticket, pari al ${say.percent(rows[0].tickets / sumOf(rows, 'tickets'), 1, { 'wrong-share': [rows[1].tickets / sumOf(rows, 'tickets')] })} del totale; ne sono stati riaperti ${say.number(rows[0].reopened, {}, neighbours(rows, rows[0], 'reopened'))} ${cite('q1')}.`,
  })),
  defineTemplate('fr-it-budget', italian, worlds.budgets, ({ year, rows }, say) => ({
    question: `Chi ha risparmiato nel ${year}?`,
    parts: answer`Nel ${say.year(year)} ${say.member(rows[1].name, others(rows, rows[1]))} ha speso ${say.number(rows[1].actual, { digits: 2, scale: [1e6, ' milioni'], after: ' di euro' }, neighbours(rows, rows[1], 'actual'))} su ${say.number(rows[1].budget, { digits: 2, scale: [1e6, ' milioni'] }, neighbours(rows, rows[1], 'budget'))} previsti: un risparmio di ${say.money(rows[1].budget - rows[1].actual, { 'wrong-difference': [rows[0].actual - rows[0].budget] })} ${cite('q1')}.`,
  })),
  defineTemplate('fr-it-media', italian, worlds.offices, ({ rows }, say) => ({
    question: 'Stipendio medio più alto?',
    parts: answer`Lo stipendio medio più alto è a ${say.member(rows[3]?.name ?? '', others(rows, rows[3]))} (${say.number(rows[3]?.pay ?? 0, { digits: 2, before: '€ ' }, neighbours(rows, rows[3], 'pay'))}), il più basso a ${say.member(rows[0].name, others(rows, rows[0]))} (${say.number(rows[0].pay, { digits: 2, before: '€ ' }, neighbours(rows, rows[0], 'pay'))}) ${cite('q1')}.`,
  })),
  defineTemplate('fr-it-fornitori', italian, worlds.suppliers, ({ rows, unknown }, say) => ({
    question: 'Ritardo medio dei fornitori?',
    parts: [
      ...join(
        rows.map(
          (row) =>
            answer`- ${say.member(row.name, others(rows, row))}: ${say.number(row.delay, { digits: 1 }, neighbours(rows, row, 'delay'))} giorni su ${say.number(row.deliveries, {}, neighbours(rows, row, 'deliveries'))} consegne`,
        ),
        '\n',
      ),
      ...answer`\n\nPer ${unknown.name} (${say.number(unknown.deliveries)} consegne) il ritardo non è registrato ${cite('q1')}.`,
    ],
  })),
  defineTemplate('fr-nl-omzet', dutch, worlds.quarters, ({ year, rows }, say) => ({
    question: `Omzet per kwartaal in ${year}?`,
    parts: [
      `Omzet in ${year}:\n\n`,
      ...join(
        rows.map(
          (row) =>
            answer`- ${row.name}: ${say.number(row.revenue, { digits: 2, scale: [1e6, ' mln'], before: '€ ' }, neighbours(rows, row))}`,
        ),
        '\n',
      ),
      ...answer`\n\nSamen ${say.number(sumOf(rows), { digits: 1, scale: [1e6, ' mln'], before: '€ ' }, {})} ${cite('q1')}.`,
    ],
  })),
  defineTemplate('fr-nl-vervoerders', dutch, worlds.carriers, ({ rows }, say) => ({
    question: 'Hoeveel pakketten kwamen te laat?',
    parts: answer`In totaal kwamen ${say.number(sumOf(rows, 'late'), {}, { 'wrong-total': [sumOf(rows.slice(1), 'late')] })} pakketten te laat ${cite('q2', ['q1'])}, oftewel ${say.percent(sumOf(rows, 'late') / sumOf(rows, 'parcels'), 1, { 'wrong-share': [rows[2].late / rows[2].parcels] })} van alle ${say.number(sumOf(rows, 'parcels'), {}, {})} pakketten ${cite('q1', ['q2'])}.`,
  })),
  defineTemplate('fr-nl-voorraad', dutch, worlds.inventory, ({ rows }, say) => ({
    question: 'Hoeveel voorraad boven het bestelpunt?',
    parts: answer`Van ${say.member(rows[0].name, others(rows, rows[0]))} liggen er ${say.number(rows[0].onHand, {}, neighbours(rows, rows[0], 'onHand'))} stuks, ${say.number(rows[0].onHand - rows[0].reorder, {}, { 'wrong-difference': [rows[0].onHand + rows[0].reorder] })} boven het bestelpunt van ${say.number(rows[0].reorder, {}, neighbours(rows, rows[0], 'reorder'))} ${cite('q1')}.`,
  })),
  defineTemplate('fr-nl-cohort', dutch, worlds.cohorts, ({ rows }, say) => ({
    question: 'Hoeveel gebruikers blijven er na drie maanden over?',
    parts: answer`Van de ${say.number(rows[1].users, {}, neighbours(rows, rows[1], 'users'))} gebruikers uit ${say.date(rows[1].cohort, inMonth, cohortMonths(rows))} was na drie maanden nog ${say.percent(rows[1].m3, 1, { ...neighbours(rows, rows[1], 'm3'), 'other-column': [rows[1].m2] })} actief, ongeveer ${say.number(rows[1].users * rows[1].m3, {}, { 'wrong-total': [rows[1].users * rows[1].m2] })} mensen ${cite('q1')}.`,
  })),
  defineTemplate('fr-pt-planos', portuguese, worlds.plans, ({ rows }, say) => ({
    question: 'Quantos assinantes temos por plano?',
    parts: [
      ...answer`Temos ${say.number(sumOf(rows, 'subscribers'), {}, { 'wrong-total': [sumOf(rows.slice(1), 'subscribers')] })} assinantes ${cite('q1')}:\n\n`,
      ...join(
        rows.map(
          (row) =>
            answer`1. ${say.member(row.name, others(rows, row))}: ${say.number(row.subscribers, {}, neighbours(rows, row, 'subscribers'))} (cancelamento de ${say.percent(row.churn / 100, 1)})`,
        ),
        '\n',
      ),
    ],
  })),
  defineTemplate('fr-pt-marcas', portuguese, worlds.brands, ({ rows }, say) => ({
    question: 'Quem perdeu quota em 2024?',
    parts: answer`A ${say.member(rows[1].name, others(rows, rows[1]))} perdeu ${say.number(rows[1].was - rows[1].is, { digits: 1 }, { 'wrong-difference': [rows[0].is - rows[0].was + 5] })} pontos percentuais: de ${say.percent(rows[1].was / 100, 1)} para ${say.percent(rows[1].is / 100, 1)} ${cite('q1')}.`,
  })),
  defineTemplate('fr-pt-visitas', portuguese, worlds.funnel, (world, say) => ({
    question: 'Como foi o mês?',
    parts: answer`Tivemos ${say.number(world.visits, { digits: 1, scale: [1e3, ' mil'] })} visitas ${cite('q1', ['q2'])} e ${say.number(world.orders)} encomendas no valor de ${say.number(world.revenue, { digits: 2, scale: [1e6, ' milhões'], after: ' de euros' })} ${cite('q2', ['q1'])}.`,
  })),
  defineTemplate('fr-pt-diferenca', portuguese, worlds.offices, ({ rows }, say) => ({
    question: 'Qual é o maior escritório?',
    parts: answer`${say.member(rows[0].name, others(rows, rows[0]))}, com ${say.number(rows[0].staff, {}, neighbours(rows, rows[0], 'staff'))} pessoas: mais ${say.number(rows[0].staff - rows[1].staff, {}, { 'wrong-difference': [rows[0].staff - rows[2].staff] })} do que ${say.member(rows[1].name, others(rows, rows[1]))} ${cite('q1')}.`,
  })),
  defineTemplate('fr-ja-sessions', japanese, worlds.sessions, ({ year, rows }, say) => ({
    question: `${year}年の国別セッション数は?`,
    parts: [
      `${year}年のモバイルのセッション数:\n\n`,
      ...join(
        rows.map(
          (row) =>
            answer`- ${say.member(row.name, others(rows, row))}:${say.number(row.mobile, { digits: 1, scale: [1e4, '万'] }, neighbours(rows, row, 'mobile'))}件`,
        ),
        '\n',
      ),
      ...answer`\n\n合計は${say.number(sumOf(rows, 'mobile'), {}, { 'wrong-total': [sumOf(rows, 'desktop')] })}件です ${cite('q1')}。`,
    ],
  })),
  defineTemplate('fr-ja-plants', japanese, worlds.plants, ({ rows }, say) => ({
    question: '2024年の発電量が最も多いのは?',
    parts: answer`最も多いのは${say.member(rows[0].name, others(rows, rows[0]))}の${say.number(rows[0].output, { after: 'MWh' }, neighbours(rows, rows[0], 'output'))}で、全体の${say.percent(rows[0].output / sumOf(rows, 'output'), 1, { 'wrong-share': [rows[1].output / sumOf(rows, 'output')] })}を占めます ${cite('q1')}。`,
  })),
  defineTemplate('fr-ja-signups', japanese, worlds.weekly, ({ rows, byValue }, say) => ({
    question: '登録が最も多かった週は?',
    parts: answer`${say.date(byValue[0].week, onDay, weeks(rows))}の週が${say.number(byValue[0].signups, {}, neighbours(rows, byValue[0], 'signups'))}件で最多でした。8週間の平均は${say.number(sumOf(rows, 'signups') / 8, {}, { 'wrong-average': [sumOf(rows, 'signups') / 9] })}件です ${cite('q1')}。`,
  })),
  defineTemplate('fr-pl-budzet', polish, worlds.budgets, ({ year, rows }, say) => ({
    question: `Ile wydaliśmy w ${year} roku?`,
    parts: answer`W ${say.year(year)} roku wydaliśmy łącznie ${say.number(sumOf(rows, 'actual'), { digits: 2, scale: [1e6, ' mln'], after: ' EUR' }, { 'wrong-total': [sumOf(rows.slice(1), 'actual')] })}, przy budżecie ${say.number(sumOf(rows, 'budget'), { digits: 2, scale: [1e6, ' mln'], after: ' EUR' }, { 'wrong-total': [sumOf(rows.slice(1), 'budget')] })} ${cite('q1')}. Najwięcej wydał dział ${say.member(rows[0].name, others(rows, rows[0]))}: ${say.number(rows[0].actual, { scale: [1e3, ' tys.'], after: ' EUR' }, neighbours(rows, rows[0], 'actual'))}.`,
  })),
  defineTemplate('fr-pl-dostawcy', polish, worlds.suppliers, ({ rows }, say) => ({
    question: 'Którzy dostawcy się spóźniają?',
    parts: answer`${say.member(rows[0].name, others(rows, rows[0]))} spóźnia się średnio o ${say.number(rows[0].delay, { digits: 1 }, neighbours(rows, rows[0], 'delay'))} dnia (${say.number(rows[0].deliveries, {}, neighbours(rows, rows[0], 'deliveries'))} dostaw), a ${say.member(rows[2].name, others(rows, rows[2]))} o ${say.number(rows[2].delay, { digits: 1 }, neighbours(rows, rows[2], 'delay'))} dnia (${say.number(rows[2].deliveries, {}, neighbours(rows, rows[2], 'deliveries'))} dostaw) ${cite('q1')}.`,
  })),
  defineTemplate('fr-pl-konta', polish, worlds.accounts, ({ rows }, say) => ({
    question: 'Jakie jest saldo kont?',
    parts: [
      '| Konto | Saldo (EUR) |\n| --- | ---: |\n',
      ...join(
        rows.map(
          (row) =>
            answer`| ${say.member(row.name, others(rows, row))} | ${say.number(row.balance, { digits: 2 }, neighbours(rows, row, 'balance'))} |`,
        ),
        '\n',
      ),
      ...answer`\n\nRazem: ${say.money(sumOf(rows, 'balance'), { 'wrong-total': [sumOf(rows.slice(1), 'balance')] })} ${cite('q1')}.`,
    ],
  })),
];

function weeks(rows: readonly { readonly week: string }[]): readonly string[] {
  return rows.map(({ week }) => week);
}

function cohortMonths(rows: readonly { readonly cohort: string }[]): readonly string[] {
  return rows.map(({ cohort }) => cohort);
}
