import { Bell, BellOff, Volume2, VolumeX } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import type { SessionCard } from "@/api/client";
import { useInbox, type Inbox } from "@/hooks/use-inbox";
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

/** What is told of something that has come into the inbox. */
function newsOf({ approvals, broken, spent }: Inbox): Map<string, [string, string]> {
  const news = new Map<string, [string, string]>();
  const tell = (what: string, { id, state, title, failure }: SessionCard) =>
    news.set(`${id} ${state}`, [what, failure ? `${title}: ${failure}` : title]);
  approvals.forEach(({ id, text }) => news.set(id, ["An agent waits for you", text]));
  broken.forEach((session) => tell(session.state === "failed" ? "A session has failed" : "A session was interrupted", session));
  spent.forEach((session) => tell("A session has used up its budget", session));
  return news;
}

/** Tells of what is new in the inbox: by a sound if it is on, and by the browser while the page is in the background. */
export function useNotifications(): void {
  const inbox = useInbox().data;
  const known = useRef<ReadonlyMap<string, unknown>>(undefined);
  useEffect(() => {
    if (!inbox) {
      return;
    }
    const news = newsOf(inbox);
    const fresh = known.current ? [...news].filter(([id]) => !known.current?.has(id)) : [];
    known.current = news;
    if (fresh.length > 0 && soundIsOn()) {
      chime();
    }
    if (isPossible && Notification.permission === "granted" && document.hidden) {
      fresh.forEach(([, [title, body]]) => new Notification(title, { body: shortened(plain(body), 200) }));
    }
  }, [inbox]);
}
