/** What the API server answered to one question: the thing, or a refusal that says something, too. */
import { ApiError } from '../../shared/kubernetes.ts';

export interface Refused {
  /** HTTP status. */
  code: number;
  /** The server's own sentence. */
  detail: string;
}

export type Answer<T> = { value: T } | { refused: Refused };

export const isKnown = <T>(answer: Answer<T>): answer is { value: T } => 'value' in answer;

/** Refusals are answers; a server that does not answer, does not know who asks, is too busy or broken is an error. */
export const answerOf = async <T>(asked: Promise<T>): Promise<Answer<T>> => {
  try {
    return { value: await asked };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 401 || error.code === 429 || error.code >= 500)
      throw error;
    return { refused: { code: error.code, detail: error.detail || error.message } };
  }
};
