use std::fs::OpenOptions;

use proptest::prelude::*;

use super::*;

fn text(text: String) -> AgentEvent {
    AgentEvent::Text { text }
}

fn read_all(dir: &Path, after: u64) -> Vec<Record> {
    let mut reader = JournalReader::new(dir, after);
    std::iter::from_fn(|| reader.next(u64::MAX).unwrap()).collect()
}

#[test]
fn reads_from_any_number_across_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(dir.path(), 200).unwrap();
    for number in 1..=50 {
        let seq = journal.append(7, &text(format!("word {number}"))).unwrap();
        assert_eq!(seq, number);
    }
    assert!(segment::list(dir.path()).unwrap().len() > 5);
    for after in [0, 1, 17, 49, 50] {
        let seqs: Vec<_> = read_all(dir.path(), after).iter().map(|r| r.seq).collect();
        assert_eq!(seqs, (after + 1..=50).collect::<Vec<_>>());
    }
}

#[test]
fn acknowledged_files_go_and_the_rest_stays() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(dir.path(), 200).unwrap();
    for number in 0..50 {
        journal.append(7, &text(format!("word {number}"))).unwrap();
    }
    let before = journal.bytes();
    journal.ack(30).unwrap();
    assert!(journal.bytes() < before);
    let kept = read_all(dir.path(), 30);
    assert_eq!(kept.first().unwrap().seq, 31);
    assert_eq!(kept.len(), 20);
}

#[test]
fn what_the_server_has_need_not_be_synced() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(dir.path(), 1 << 20).unwrap();
    assert_eq!(journal.sync_by(), None);
    for number in 1..=3 {
        journal.append(7, &text(format!("word {number}"))).unwrap();
    }
    assert!(journal.sync_by().is_some());
    journal.ack(3).unwrap();
    assert_eq!(journal.sync_by(), None);
    assert!(journal.take_unsynced().unwrap().is_none());

    journal.append(7, &text("unheard".to_owned())).unwrap();
    assert!(journal.take_unsynced().unwrap().is_some());
    assert_eq!(journal.sync_by(), None, "it is being synced");
}

#[test]
fn a_follower_that_is_behind_goes_on_with_the_oldest_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(dir.path(), 200).unwrap();
    for number in 0..50 {
        journal.append(7, &text(format!("word {number}"))).unwrap();
    }
    journal.ack(50).unwrap();
    let kept = read_all(dir.path(), 0);
    assert!(!kept.is_empty() && kept[0].seq > 1);
    assert_eq!(kept.last().unwrap().seq, 50);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A crash leaves any prefix of what was not synced. Whatever it leaves: what is read is whole and in order, what was
    /// acknowledged (here: synced before the cut) is there, and the journal can be written on.
    #[test]
    fn truncation_never_loses_the_acknowledged_nor_yields_the_damaged(
        lengths in prop::collection::vec(0_usize..400, 1..40),
        synced in 0_usize..40,
        cut in 0_u64..4_000,
        garbage in prop::collection::vec(any::<u8>(), 0..30),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path(), 1_000).unwrap();
        let mut safe = (0_u64, 1_u64, 0_u64);
        for (index, length) in lengths.iter().enumerate() {
            journal.append(index as u64, &text("x".repeat(*length))).unwrap();
            if index < synced {
                safe = (journal.newest(), journal.current().first, journal.current().bytes);
            }
        }
        let last = journal.current().first;
        drop(journal);
        // The last file loses its end, but not what was synced, and may get bytes of nobody behind it.
        let path = segment::path(dir.path(), last);
        let whole = std::fs::metadata(&path).unwrap().len();
        let floor = if safe.1 == last { safe.2 } else { 0 };
        let file = OpenOptions::new().append(true).open(&path).unwrap();
        file.set_len(whole.saturating_sub(cut).max(floor)).unwrap();
        (&file).write_all(&garbage).unwrap();

        let mut journal = Journal::open(dir.path(), 1_000).unwrap();
        prop_assert!(journal.newest() >= safe.0);
        let next = journal.append(99, &text("after".to_owned())).unwrap();
        let records = read_all(dir.path(), 0);
        prop_assert_eq!(records.len() as u64, next);
        for (index, record) in records.iter().enumerate() {
            prop_assert_eq!(record.seq, index as u64 + 1);
            let expected = match index as u64 + 1 == next {
                true => text("after".to_owned()),
                false => text("x".repeat(lengths[index])),
            };
            prop_assert_eq!(&record.event, &expected);
        }
    }
}
