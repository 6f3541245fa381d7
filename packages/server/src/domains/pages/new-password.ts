/** What can be wrong with a new password that was typed twice. */
import { PASSWORD_LENGTH } from '@oriel/contract';
import { ApiError } from '../../platform/errors.ts';

export interface NewPasswordInput {
  newPassword: string;
  repeated: string;
}

export function requireUsable({ newPassword, repeated }: NewPasswordInput): void {
  if ([...newPassword].length < PASSWORD_LENGTH.min) throw new ApiError('password_too_short');
  if (newPassword.normalize('NFC') !== repeated.normalize('NFC')) throw new ApiError('passwords_differ');
}

/** The message beside the field that is wrong; undefined if the error is not about these fields. */
export function errorsOf({
  code,
  message,
}: ApiError): { newPassword?: string; repeated?: string } | undefined {
  if (code === 'password_too_short' || code === 'password_too_easy') return { newPassword: message };
  if (code === 'passwords_differ') return { repeated: message };
  return undefined;
}
