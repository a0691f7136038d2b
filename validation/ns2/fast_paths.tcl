# One long flow of Agent/TCP/Linux over the path JAPAN of [Igarashi 2007], chapter 4: Gigabit Ethernet, then 310 Mbit/s
# with 100 ms and a drop-tail buffer. Packets count IP and TCP headers, timestamps included (52 bytes).
#
# ns fast_paths.tcl <congestion control> <buffer, packets> <seconds>
# Prints: mean and largest rate of payload (bins of 2 s), Mbit/s; packets that came to the buffer, and drops.

set law [lindex $argv 0]
set buffer [lindex $argv 1]
set seconds [lindex $argv 2]
set ns [new Simulator]
set host [$ns node]
set router [$ns node]
set sink_host [$ns node]
$ns duplex-link $host $router 975Mb 0ms DropTail
$ns duplex-link $router $sink_host 310Mb 50ms DropTail
foreach {from to} [list $host $router $router $host $sink_host $router] {
    $ns queue-limit $from $to 1000000
}
$ns queue-limit $router $sink_host $buffer

set tcp [new Agent/TCP/Linux]
$tcp set timestamps_ true
$tcp set window_ 5525
$tcp set packetSize_ 1448
$tcp set tcpip_base_hdr_size_ 52
set sink [new Agent/TCPSink/Sack1/DelAck]
$sink set ts_echo_rfc1323_ true
$ns attach-agent $host $tcp
$ns attach-agent $sink_host $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0 "$tcp select_ca $law"
$ns at 0.01 "$ftp start"

set mbit_per_packet [expr 1448 * 8e-6]
set before 0
set largest 0
proc bin {} {
    global ns tcp before largest mbit_per_packet
    set all [$tcp set ack_]
    set mbps [expr ($all - $before) * $mbit_per_packet / 2.0]
    if {$mbps > $largest} { set largest $mbps }
    set before $all
    $ns at [expr [$ns now] + 2] bin
}
proc finish {} {
    global tcp seconds largest mbit_per_packet queue
    set mean [expr [$tcp set ack_] * $mbit_per_packet / $seconds]
    puts "rates $mean $largest [$queue set parrivals_] [$queue set pdrops_]"
    exit 0
}
set queue [$ns monitor-queue $router $sink_host ""]
$ns at 2 bin
$ns at $seconds finish
$ns run
