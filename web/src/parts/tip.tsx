// The tooltip of what is under the pointer.
import type { ComponentChildren } from "preact";

export interface Pointed { x: number; y: number; tip: ComponentChildren }

export function Tip({ at }: { at: Pointed | null }) {
  if (!at) return null;
  const right = at.x > innerWidth - 340;
  const below = at.y < innerHeight - 220;
  return (
    <div class="tip" role="tooltip" style={{
      left: right ? "auto" : `${at.x + 14}px`, right: right ? `${innerWidth - at.x + 14}px` : "auto",
      top: below ? `${at.y + 14}px` : "auto", bottom: below ? "auto" : `${innerHeight - at.y + 14}px`,
    }}>
      {at.tip}
    </div>
  );
}
