import { coefficients } from './coefficients.ts';
import { featuresOf, type Candidate } from './features.ts';
import { sigmoid } from './keys.ts';

/** Probability that a candidate is a link: logistic regression, trained by `bench/relationships/train.ts`. */
export function probabilityOf(candidate: Candidate): number {
  const logit = featuresOf(candidate).reduce((sum, value, index) => sum + value * (coefficients[index] ?? 0), 0);
  return sigmoid(logit);
}
