import { Type } from 'typebox';
import { operation } from '../operation.ts';
import { CursorPage, cursorQuery, Shape } from '../schemas.ts';

const value = (description: string) => Type.Optional(Type.String({ description }));

const Notice = Shape('Notice', {
  code: Type.Enum(
    [
      'mail_not_set',
      'no_recent_backup',
      'secret_key_in_data_dir',
      'private_remotes_allowed',
      'disk_nearly_full',
      'new_release',
    ],
    { description: 'What it is about; new codes may be added' },
  ),
  severity: Type.Enum(['info', 'warning'], { description: '`warning` if something may be lost' }),
  message: Type.String({ description: 'What was found, for people' }),
  values: Shape(
    'NoticeValues',
    {
      free: value('`disk_nearly_full`: how much is free'),
      total: value('`disk_nearly_full`: how much there is'),
      days: value('`no_recent_backup`: how many days ago the last backup was; absent if there was none'),
      latest: value('`new_release`: the newest release'),
      version: value('`new_release`: the release of this server'),
    },
    { description: 'What the message says in numbers and names, for messages in another language' },
  ),
  whatToDo: Type.String({ description: 'How to settle it, for people' }),
});

export const listNotices = operation({
  id: 'listNotices',
  tag: 'Operating',
  auth: 'management',
  method: 'GET',
  path: '/api/v1/notices',
  summary: 'List what the operator should look after',
  description:
    'Looked up when it is asked for, on the server that answers. Each notice leaves by itself when it is settled.',
  permission: 'All',
  scopedKeys: 'refused',
  query: cursorQuery,
  reply: CursorPage('NoticesResponse', Notice),
  audit: 'none',
});
