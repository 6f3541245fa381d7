import { say as sayAll } from '../../texts/say.ts';

interface FootProps {
  onClose(): void;
  action: string;
  /** Whether the action takes something away. */
  isDangerous?: boolean;
}

/** The end of a form in a dialog. */
export const Foot = ({ onClose, action, isDangerous }: FootProps) => (
  <div class="dialog-foot">
    <button type="button" onClick={onClose}>
      {sayAll('cancel')}
    </button>
    <button type="submit" class={isDangerous ? 'primary bad' : 'primary'}>
      {action}
    </button>
  </div>
);
