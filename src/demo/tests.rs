//! The scripts and the practice folder: what they promise to each other.

use std::collections::BTreeMap;

use super::*;

fn files() -> BTreeMap<String, String> {
    practice::files().unwrap().into_iter().collect()
}

fn chars(files: &BTreeMap<String, String>, path: &str) -> usize {
    files[path].chars().count()
}

#[test]
fn the_practice_folder_is_the_same_every_time_and_large_enough() {
    let all = files();
    assert_eq!(all, files());
    let sizes = [
        "data/voyages.json",
        "src/stowage_v1.py",
        "src/stowage_v2.py",
    ]
    .map(|path| chars(&all, path));
    assert_eq!(sizes, [0, 0, 0]);
    for day in 1..=practice::DAYS {
        assert!(chars(&all, &format!("logs/day_{day:02}.txt")) <= 120);
    }
}
