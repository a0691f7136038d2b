# What ns-2's RED does with ECN-capable packets above a probability: the test congested1_mark_p of its suite `red`, counted.
# ns red_marks.tcl MARK_P SEED: packets dropped, and those of them that were selected.
foreach {key value} {
    bytes_ true queue_in_bytes_ false q_weight_ 0.002 thresh_ 5 maxthresh_ 15 gentle_ true setbit_ true use_mark_p_ true
} { Queue/RED set $key $value }
Queue/RED set mark_p_ [lindex $argv 0]
foreach {key value} {
    useHeaders_ false windowInit_ 1 singledup_ 0 minrto_ 0 syn_ false delay_growth_ false SetCWRonRetransmit_ true
    packetSize_ 1500 window_ 1000 ecn_ 1
} { Agent/TCP set $key $value }

set ns [new Simulator]
$defaultRNG seed [lindex $argv 1]
foreach name {s1 s2 r1 r2 s3 s4} { set node($name) [$ns node] }
foreach {from to rate delay queue} {
    s1 r1 10Mb 0ms DropTail  s2 r1 10Mb 1ms DropTail  r1 r2 1.5Mb 10ms RED  s3 r2 10Mb 2ms DropTail  s4 r2 10Mb 3ms DropTail
} { $ns duplex-link $node($from) $node($to) $rate $delay $queue }
$ns queue-limit $node(r1) $node(r2) 100
$ns queue-limit $node(r2) $node(r1) 100
set monitor [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $node(r1) $node(r2)] $monitor 1
foreach {from to start} {s1 s3 0.0 s2 s4 0.2} {
    set sender [$ns create-connection TCP/Sack1 $node($from) TCPSink/Sack1 $node($to) 0]
    $ns at $start "[$sender attach-app FTP] start"
}
proc finish {} {
    global monitor
    puts "[$monitor set pdrops_] [$monitor set epdrops_]"
    exit 0
}
$ns at 5.0 finish
$ns run
