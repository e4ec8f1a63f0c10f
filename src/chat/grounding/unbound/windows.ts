import type { QueryEvidence } from '../../../llm/port/tool-call.ts';

/** Lengths of time that rules and terms are made of. */
const usual = /^(?:1|2|3|4|6|7|10|12|14|18|21|24|28|30|36|45|48|60|72|90|120|180|365)$/;

const unit =
  /^[\s-](?:\p{L}+\s)?(?:seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|heures?|jours?|semaines?|mois|ans|horas?|d[ií]as?|semanas?|mes(?:es)?|años?|anos?|ore|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]|uur|dagen|weken|maand(?:en)?|jaar|timmar|dagar|veckor|månader|dager|dage|godzin|dni|tygodni|miesięcy)(?!\p{L})/iu;
const joinedUnit = /^\s?(?:日|天|か月|個月|个月|週間|周|時間|小时|일|개월|주)/u;

/** Words before a term or a window that the answer takes from general knowledge. */
const term =
  /(?<!\p{L})(?:within|up to|term of|terms of|period of|window of|notice of|net|binnen|innerhalb von|innerhalb der|frist von|laufzeit von|dans les|sous|délai de|en un plazo de|plazo de|dentro de|prazo de|entro|termine di|termijn van|inom|w ciągu|terminie)\s(?:the |de |den |los |les |i |os )?(?:first |next |following |nächsten |prochains |próximos )?$/iu;

/**
 * `may still be returned within 30 days`: a usual length of time as a rule, where no statement of a
 * query has a length of time that it could get wrong.
 */
export function isWindow(
  text: string,
  before: string,
  { behind, evidence }: { readonly behind: string; readonly evidence: readonly QueryEvidence[] },
): boolean {
  if (!usual.test(text)) return false;
  const isFree = !evidence.some(({ sql = '' }) => lengthInSql.test(sql));
  if (compound.test(behind)) return isFree;
  const isSaid = /(?<!\p{L})net\s$/iu.test(before) || unit.test(behind) || joinedUnit.test(behind);
  return isSaid && term.test(before) && isFree;
}

/** `a 30-day lookback window` */
const compound =
  /^[-‑](?:day|week|month|year|hour|minute)[\s-](?:lookback|window|period|trial|rolling|moving|return|notice|cutoff|grace|term|SLA|cycle|attribution|history|policy)/iu;

const lengthInSql =
  /\binterval\b|\bdate_?(?:add|sub|diff)\b|(?:date|now\(\)|today\(\)|timestamp)\s*[-+]\s*\d/i;
