/** The script of pages that only say something. Their address may hold a session, too. */
import { readAddress } from './address.ts';

readAddress();
