# Sleeps 10 ms and appends to a file how long it ran by its own clock, s: from its first line to its last.
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC usleep);
my $from = clock_gettime(CLOCK_MONOTONIC);
open my $file, '>>', $ARGV[0] or die;
usleep(10_000);
syswrite $file, sprintf("%.9f\n", clock_gettime(CLOCK_MONOTONIC) - $from);
