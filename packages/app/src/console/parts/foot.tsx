import { say as sayAll } from '../../texts/say.ts';

/** The end of a form in a dialog. */
export const Foot = ({ onClose, action }: { onClose(): void; action: string }) => (
  <div class="dialog-foot">
    <button type="button" onClick={onClose}>
      {sayAll('cancel')}
    </button>
    <button type="submit" class="primary">
      {action}
    </button>
  </div>
);
