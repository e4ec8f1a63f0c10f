import { readNumbers } from '../../chat/grounding/read-numbers.ts';
import type { GraderFinding } from '../run/outcome.ts';

/** Sentences in which an agent says that it has no answer, by language. */
const refusals: readonly RegExp[] = [
  /\b(?:cannot|can['’]?t|can not|could not|couldn['’]t|unable|not able|no (?:data|metric|column|field|table|definition|information|record|such|answer|way)|there (?:is|are) no|there (?:is|are)n['’]t|none of (?:the|our|these|them)|nothing (?:in|about|on)|(?:is|are|was|were)(?: not|n['’]t) (?:available|recorded|tracked|stored|collected|captured|in the|part of|there|measured|defined|known|anywhere)|(?:does|do|did)(?: not|n['’]t) (?:have|hold|contain|include|record|track|store|collect|capture|measure|know|exist|cover|appear)|not in (?:the|our|this) (?:data|warehouse|database)|not (?:available|recorded|tracked|collected|measured)|lacks?|(?:is|are) missing|without (?:data|a definition))\b/iu,
  /(?:\b(?:kann|können|konnte|lässt|lassen)\b[^.!?]*\b(?:nicht|kein\w*)\b|\b(?:keine?[nrm]?|nicht)\b[^.!?]*(?:\b(?:daten|angaben?|information\w*|kennzahl\w*|spalten?|tabellen?|vorhanden|erfasst|erhoben|gespeichert|verfügbar|enthalten|definiert)\b)|\b(?:fehlt|fehlen)\b)/iu,
  /(?:\b(?:ne|n['’])\s?[^.!?]*\b(?:pas|aucune?|plus)\b|\baucune? (?:donnée|table|colonne|information|mesure|définition)|\b(?:manque|impossible)\b)/iu,
  /(?:\bno (?:hay|existen?|tenemos|dispongo|disponemos|se (?:registra|mide|recoge|guarda)\w*|puedo|podemos|contiene\w*|est[áa]n?|figura\w*)\b|\b(?:faltan?|imposible)\b)/iu,
  /(?:\bn[ãa]o (?:há|existem?|temos|dispon\w+|posso|podemos|cont[ée]m|est[áa]o?|é)(?!\p{L})|\bnon (?:ci sono|c['’]è|esistono?|abbiamo|posso|possiamo|contiene|contengono|è|sono)(?!\p{L}))/iu,
  /(?:\b(?:niet|geen)\b[^.!?]*\b(?:gegevens|data|beschikbaar|kolom\w*|tabel\w*|vastgelegd|gemeten|beantwoorden)\b|\bkan\b[^.!?]*\bniet\b)/iu,
  /(?:\b(?:nie (?:ma|można|mogę|mamy|zawiera\w*)|brak)|(?:^|[\s«])(?:нет|не (?:могу|можем|содержит|хранится|собира\w+|измеря\w+)|отсутству\w+))/iu,
  /(?:没有|沒有|无法|無法|不存在|未(?:记录|記錄|收集)|缺少|ありません|できません|存在しません|記録されて(?:い)?(?:ない|ません)|없습니다|없다|수 없)/u,
];

/** Words of emphasis that only look like a refusal. */
const emphasis =
  /\b(?:cannot|can['’]?t|can not|could not|couldn['’]t|do not|don['’]t) (?:be )?(?:stress|emphasi[sz]e|overstate|overemphasi[sz]e|say enough|recommend|thank|help but|wait|agree more)\b[^.!?]*/giu;

/** Sentences about the search: their numbers count tables and columns. */
const searches =
  /\b(?:search|look|check|inspect|tables?|columns?|datasets?|metrics?|pages?|suche|durchsuch|geprüft|tabellen?|spalten?|cherch|tables|colonnes|busqu|tablas|columnas|tabelle|colonne)/iu;

/**
 * Passes if the answer says that it cannot answer, in any of a dozen languages, and gives no number
 * all the same. Queries may be cited: an agent that looked may say where.
 */
export function gradeRefusal(text: string, question: string): GraderFinding {
  const finding = (outcome: GraderFinding['outcome'], found: string): GraderFinding => ({
    grader: 'refuses',
    outcome,
    found,
  });
  const sentences = text
    .replaceAll(emphasis, ' ')
    .split(/(?<=[.!?])\s+|\n+|(?<=[。！？])|;\s|,?\s(?=(?:but|aber|mais|pero|mas|maar)\s)/u)
    .map((sentence) => sentence.replaceAll(/\[q\d+(?:\s*,\s*q\d+)*\]/gi, ' '));
  const isRefusal = (sentence: string) => refusals.some((pattern) => pattern.test(sentence));
  if (!sentences.some(isRefusal)) return finding('fail', 'does not say that it cannot answer');
  const asked = new Set(valuesIn(question));
  const answered = sentences
    .filter((sentence) => !isRefusal(sentence) && !searches.test(sentence))
    .flatMap((sentence) => readNumbers(sentence))
    .find(({ isYear, readings }) => !isYear && !readings.some(({ value }) => asked.has(value)));
  return answered === undefined
    ? finding('pass', 'says that it cannot answer')
    : finding('fail', `says that it cannot answer, and gives ${answered.text} all the same`);
}

function valuesIn(text: string): readonly number[] {
  return readNumbers(text).flatMap(({ readings }) => readings.map(({ value }) => value));
}
