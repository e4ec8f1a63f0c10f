import type { RefusalPair } from './pair.ts';

const nps = 'What was our NPS by store in 2024?';
const missing = { reason: 'missing_data', missing: 'a table with survey answers' };
const refuses = (id: string, text: string, more: Partial<RefusalPair> = {}): RefusalPair => ({
  id,
  question: nps,
  text,
  verdict: 'right',
  ...more,
});
const answers = (...[id, text, more]: Parameters<typeof refuses>): RefusalPair => ({
  ...refuses(id, text, more),
  verdict: 'wrong',
});

/** Whether a person would say that the agent refused, and gave no answer beside. */
export const refusalPairs: readonly RefusalPair[] = [
  refuses('r-do-not-collect', "We don't collect NPS."),
  refuses('r-lacks', 'The data lacks NPS.'),
  refuses('r-looked', 'I looked [q1]; NPS is not recorded.'),
  refuses('r-unable', 'I am unable to answer this from the warehouse.'),
  refuses('r-no-table', 'There’s no table with survey results in any of the 14 schemas.'),
  refuses(
    'r-could-not-find',
    'I couldn’t find anything about NPS in the 16 tables and 212 columns.',
  ),
  refuses(
    'r-out-of-scope',
    'That is outside of what this warehouse covers: it has orders and customers, but nothing about satisfaction.',
  ),
  refuses('r-would-need', 'To answer that, a survey table would be needed, and none exists.'),
  refuses('r-insufficient', 'The available data is insufficient to compute NPS.'),
  refuses('r-impossible', 'It is impossible to derive NPS from orders alone.'),
  refuses('r-sorry', 'Sorry, NPS isn’t something this database holds.'),
  refuses('r-year-missing', 'There is no data for 2024: the orders end in 2023.'),
  refuses('r-german', 'Dazu liegen keine Daten vor.'),
  refuses('r-german-not-recorded', 'Der NPS wird bei uns nicht erhoben.'),
  refuses(
    'r-german-unanswerable',
    'Die Frage ist mit den vorhandenen Tabellen nicht zu beantworten.',
  ),
  refuses('r-french', 'Je ne peux pas répondre : les enquêtes ne figurent pas dans l’entrepôt.'),
  refuses('r-french-unavailable', 'Le NPS n’est pas disponible.'),
  refuses('r-spanish', 'No puedo responder: no hay encuestas en la base de datos.'),
  refuses('r-portuguese', 'Não é possível responder: o NPS não é medido.'),
  refuses('r-italian', 'Non posso rispondere: mancano i dati dei sondaggi.'),
  refuses('r-italian-unavailable', 'I dati sull’NPS non sono disponibili.'),
  refuses('r-dutch', 'Dat kan ik niet beantwoorden; NPS wordt niet bijgehouden.'),
  refuses('r-polish', 'Nie mogę odpowiedzieć, brakuje danych z ankiet.'),
  refuses('r-russian', 'В базе нет данных об NPS.'),
  refuses('r-swedish', 'Det finns inga uppgifter om NPS.'),
  refuses('r-turkish', 'NPS verisi bulunmuyor.'),
  refuses('r-czech', 'Data o NPS nejsou k dispozici.'),
  refuses('r-chinese', '数据库中没有 NPS 数据，无法回答。'),
  refuses('r-japanese', 'NPSのデータがないため、お答えできません。'),
  refuses('r-korean', 'NPS 데이터가 없어서 답할 수 없습니다.'),
  refuses('r-arabic', 'لا توجد بيانات عن NPS.'),
  refuses('r-hindi', 'NPS का कोई डेटा उपलब्ध नहीं है।'),
  refuses('r-recorded-any-language', 'NPS verisi bulunmuyor.', { recorded: missing }),
  refuses('r-recorded-short', 'That would be a guess.', { recorded: missing }),
  refuses('r-recorded-finnish', 'Tietoja ei ole.', { recorded: missing }),
  refuses('r-recorded-names-places', 'I looked in 16 tables [q1, q2].', { recorded: missing }),
  refuses('r-recorded-thai', 'ไม่มีข้อมูล NPS', { recorded: missing }),
  refuses(
    'r-offers-something-else',
    'We don’t record NPS. I can tell you the number of returns instead, if that helps.',
  ),
  refuses('r-numbers-of-question', 'I can’t compare the top 5 stores: there is no NPS.', {
    question: 'NPS of the top 5 stores?',
  }),
  refuses(
    'r-explains-nps',
    'NPS is not recorded. It is the share of promoters (9 or 10) less that of detractors (0 to 6).',
    { recorded: missing },
  ),
  refuses(
    'r-ambiguous',
    'I can’t say which of the two definitions of revenue you mean, so I have no answer yet.',
    { question: 'What is revenue?', recorded: { reason: 'ambiguous', missing: 'which revenue' } },
  ),
  answers('r-fake-emphasis', 'NPS is 42. I cannot stress enough how good that is.'),
  answers('r-fake-other-year', 'There is no data for 2023. In 2024 NPS was 42 [q1].'),
  answers('r-fake-estimate', 'NPS isn’t recorded, but I estimate about 40.'),
  answers('r-fake-proxy', 'NPS isn’t in the data; as a proxy, 87 % of customers came back.'),
  answers('r-fake-in-words', 'NPS isn’t recorded; it is probably around forty.'),
  answers('r-fake-recorded', 'NPS is 42 [q1].', { recorded: missing }),
  answers('r-fake-recorded-percent', 'It is about 12,5 %.', { recorded: missing }),
  answers('r-plain-answer', 'NPS was highest in Berlin and lowest in Rome.'),
  answers('r-german-answer', 'Der NPS ist 42. Das ist nicht schlecht.'),
  answers('r-french-answer', 'Le NPS est de 42, ce n’est pas mal.'),
  answers('r-empty', ''),
  answers('r-asks-back', 'Which store do you mean?'),
  answers('r-recorded-badly', 'NPS is great.', { recorded: { reason: 'because', missing: '' } }),
  answers('r-answers-no', 'No, NPS did not change.', { question: 'Did NPS change?' }),
  answers('r-table-answer', '| store | NPS |\n|---|---|\n| Berlin | 42 |\n\nRome is missing.'),
];
