import { useQuery } from "@tanstack/react-query";
import { Bell, BellOff, Volume2, VolumeX } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { approvalList } from "@/api/queries";
import { Button } from "@/ui/button";
import { chime, setSound, soundIsOn } from "@/util/chime";
import { plain, shortened } from "@/util/text";

const isPossible = "Notification" in window;

/** Asks the browser for leave to show notifications. */
export function NotifyButton() {
  const [leave, setLeave] = useState(isPossible ? Notification.permission : "denied");
  if (leave === "granted") {
    return (
      <span className="inline-flex items-center gap-1.5 text-sm text-muted">
        <Bell size={14} aria-hidden="true" /> Notifications are on
      </span>
    );
  }
  return (
    <Button
      refused={leave === "denied" ? "The browser does not allow notifications here." : undefined}
      onClick={() => void Notification.requestPermission().then(setLeave)}
    >
      <BellOff size={14} aria-hidden="true" /> Notify me
    </Button>
  );
}

/** Switches the sound on and off; on, it is heard at once. */
export function SoundButton() {
  const [on, setOn] = useState(soundIsOn);
  const toggle = () => {
    setSound(!on);
    setOn(!on);
    if (!on) chime();
  };
  return (
    <Button aria-pressed={on} onClick={toggle}>
      {on ? <Volume2 size={14} aria-hidden="true" /> : <VolumeX size={14} aria-hidden="true" />} Sound
    </Button>
  );
}

/** Tells of new questions: by a sound if it is on, and by the browser while the page is in the background. */
export function useNotifications(): void {
  const approvals = useQuery(approvalList).data?.approvals;
  const known = useRef<Set<string>>(undefined);
  useEffect(() => {
    if (!approvals) {
      return;
    }
    const fresh = known.current && approvals.filter((approval) => !known.current?.has(approval.id));
    known.current = new Set(approvals.map((approval) => approval.id));
    if (fresh?.length && soundIsOn()) {
      chime();
    }
    if (isPossible && Notification.permission === "granted" && document.hidden) {
      fresh?.forEach((approval) => new Notification("An agent waits for you", { body: shortened(plain(approval.text), 200) }));
    }
  }, [approvals]);
}
